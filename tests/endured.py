"""Results of endurance tests in `bench/endurance.json`: figures, with their commit and day.

A test says its figures by the fixture `endured`. They are written when the run ends, if the test passed, by the one
process that hears of all tests. `python bench/endurance.py` tells which of them are older than the code they cover.
"""

import json
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

KEPT = Path("bench", "endurance.json")
PROPERTY = "endured"

Endured = Callable[[str, Mapping[str, Any]], None]


@pytest.fixture
def endured(record_property: Callable[[str, object], None], request: pytest.FixtureRequest) -> Endured:
    """Keep the figures of a suite if this test is of endurance; a short form proves nothing for long."""

    def keep(suite: str, figures: Mapping[str, Any]) -> None:
        if request.node.get_closest_marker("endurance"):
            record_property(PROPERTY, [suite, json.dumps(figures)])

    return keep


def head(root: Path) -> tuple[str, bool]:
    """The commit that is checked out in a folder, empty where git knows none, and whether files differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    return git("rev-parse", "--short=12", "HEAD"), bool(git("status", "--porcelain", "--", ":/src", ":/web", ":/tests"))


def pytest_configure(config: pytest.Config) -> None:
    """Begin to listen."""
    config.pluginmanager.register(Book(), "lutrin-endured")


class Book:
    """Gathers figures while tests end, and writes them when the run does."""

    def __init__(self) -> None:
        self._figures: dict[str, Any] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the figures of a test that passed."""
        if report.when == "call" and report.passed:
            for name, value in report.user_properties:
                if name == PROPERTY:
                    suite, figures = cast("list[str]", value)
                    self._figures[suite] = json.loads(figures)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write them, unless this is a worker, whose figures the other process has heard of."""
        if self._figures and not hasattr(session.config, "workerinput"):
            kept = session.config.rootpath / KEPT
            known = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
            commit, changed = head(kept.parent)
            today = datetime.now(UTC).date().isoformat()
            for suite, figures in self._figures.items():
                known[suite] = {"commit": commit, "changed": changed, "date": today, "figures": figures}
            kept.write_text(json.dumps(known, indent=2, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
