"""The widget and the reader in a real Chromium: eight journeys always, each suite of `web/tests` in endurance.

The ten journeys: `real/first.test.ts` has the first visit and question, and a citation and back, in every run;
`real/journeys.test.ts` has search by half a word, explain and simplify, ten cards on a phone, a printed chapter, a
teacher's folder and three approved cards, a foreign page, a server that is lost, and everything by keyboard.

The suites of `web/tests/browser` have a scripted server, those of `web/tests/real` Lutrin itself with a small book and
the tiny model. The Docusaurus site takes minutes to install and build, hence it is looked at here only where
`just site` has built it; `just test-all` and `just e2e` always do.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.endured import Endured

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
TESTS = WEB / "tests"
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
SUITES = sorted(
    path.relative_to(TESTS).as_posix() for kind in ("browser", "real") for path in TESTS.glob(f"{kind}/*.test.ts")
)
FIRST = "real/first.test.ts"
"""The journeys that every run makes."""
LEARNING = "real/class.test.ts"
"""The journeys of a class that learns; the name of each ends with its setting."""
SETTING = "1280 px, light"
LIMIT_S = 280
ALL_S = 900
"""For all suites together."""

pytestmark = [pytest.mark.browser]


@pytest.fixture(scope="module")
def npm() -> str:
    """Path of npm; skips without Node.js or the packages of `web/`, with the reason of `requirements/packages.py`."""
    found = shutil.which("npm")
    if found is None:
        pytest.skip("Node.js with npm is not on this machine and could not be installed")
    if not (WEB / "node_modules" / "vitest").is_dir():
        pytest.skip("the npm packages of web/ are not installed: no network, or Node.js is older than 20.19")
    return found


@pytest.fixture(scope="module")
def chromium() -> Path:
    """The browser; skips where it cannot be had, as `requirements/debian.py` says."""
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM} and it could not be installed; name yours in CHROMIUM")
    return CHROMIUM


def started(npm: str, folder: Path, *words: str, within_s: float = LIMIT_S) -> "subprocess.CompletedProcess[str]":
    """A command of npm's, ended."""
    environment = {**os.environ, "LUTRIN": str(Path(sys.executable).with_name("lutrin")), "NO_COLOR": "1"}
    return subprocess.run(
        [npm, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=within_s, check=False
    )


def run(npm: str, folder: Path, *words: str, within_s: float = LIMIT_S) -> None:
    """Run a command of npm's; what it printed is shown if it fails."""
    done = started(npm, folder, *words, within_s=within_s)
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"


@pytest.fixture(scope="module")
def played(npm: str, chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The result of each suite, all from one run of the test program with its usual parallelism."""
    assert chromium.exists()
    report = tmp_path_factory.mktemp("browser") / "report.json"
    done = started(
        npm, TESTS, "exec", "--", "vitest", "run", "--reporter=json", f"--outputFile={report}", *SUITES, within_s=ALL_S
    )
    assert report.exists(), f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"
    suites = json.loads(report.read_text("utf-8"))["testResults"]
    return {Path(suite["name"]).relative_to(TESTS).as_posix(): suite for suite in suites}


@pytest.mark.slow("a small book is read, and a server and a browser start")
def test_a_reader_asks_and_is_led_to_the_answer(npm: str, chromium: Path) -> None:
    """On a real server, by keyboard, with nothing that axe finds and nothing from another origin."""
    assert chromium.exists()
    run(npm, TESTS, "exec", "--", "vitest", "run", FIRST)


@pytest.mark.slow("a small book is read, a server and a browser start, and six journeys are made")
def test_a_class_learns(npm: str, chromium: Path) -> None:
    """Hints, a question asked back, an exercise, an hour offline, reading aloud, a new book; all by keyboard."""
    assert chromium.exists()
    run(npm, TESTS, "exec", "--", "vitest", "run", LEARNING, "-t", SETTING)


@pytest.mark.nightly
@pytest.mark.timeout(ALL_S + 60)
def test_a_class_learns_in_every_setting(npm: str, chromium: Path) -> None:
    """The same on a phone, too, and in the dark."""
    assert chromium.exists()
    run(npm, TESTS, "exec", "--", "vitest", "run", LEARNING, within_s=ALL_S)


@pytest.mark.endurance
@pytest.mark.timeout(ALL_S + 60)
@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite: str, played: dict[str, dict[str, Any]], endured: Endured) -> None:
    """Every journey of the suite, with no violation of the policy and no request to another origin."""
    result = played[suite]
    failed = [one for one in result["assertionResults"] if one["status"] != "passed"]
    told = [f"{one['fullName']} ({one['status']})\n" + "\n".join(one["failureMessages"]) for one in failed]
    assert result["status"] == "passed", "\n\n".join([result["message"], *told])
    assert result["assertionResults"]
    assert told == []
    if all(one["status"] == "passed" for one in played.values()):
        endured("browser", {name: len(one["assertionResults"]) for name, one in sorted(played.items())})


@pytest.mark.endurance
def test_site(npm: str, chromium: Path, endured: Endured) -> None:
    """The plugin on the built Docusaurus site, on three kinds of page."""
    assert chromium.exists()
    if not (WEB / "site" / "build" / "index.html").is_file():
        pytest.skip("the sample site is not built; `just e2e` builds it and runs this")
    run(npm, TESTS, "exec", "--", "vitest", "run", "site/site.test.ts")
    endured("site", {"kinds_of_page": 3})


@pytest.mark.parametrize("package", ["widget", "docusaurus-plugin-lutrin"])
def test_units(package: str, npm: str) -> None:
    """Unit tests without a browser."""
    run(npm, WEB / package, "test")


def test_types(npm: str) -> None:
    """The browser suite has no TypeScript error."""
    run(npm, TESTS, "exec", "--", "tsc")


def test_the_widget_is_what_its_sources_build(npm: str) -> None:
    """Built again, it is the committed file byte for byte, has no TypeScript error and keeps to its budget."""
    run(npm, WEB / "widget", "run", "check")
