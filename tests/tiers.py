"""Which tier a test belongs to, which worker runs it, and how long it may take.

*unit* needs no process and no model; *system* takes the real embedder, Chroma, SQLite, PostgreSQL, the tiny model, HTTP
and one journey in a browser; *nightly* takes whole installations, the remote profile, recognition, training and what
judges answers; *endurance* repeats, loads and torments. A folder or a file decides; a mark on the test itself wins.
"""

import os
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

TESTS = "tests"
TIERS = ("unit", "system", "nightly", "endurance")
SYSTEM = ("browser", "chaos", "conformance", "end_to_end", "ports", "remote", "serve", "test_types.py")
NIGHTLY = (
    "chaos", "end_to_end/test_bombs.py", "end_to_end/test_offline.py", "evaluation", "keep/test_bundle.py", "remote",
    "setup/test_container.py", "setup/test_wheel.py", "training",
)  # fmt: skip
"""Folders and files that change seldom or set up for minutes; `.ci/nightly` runs them, `.ci/run` does not."""
ENDURANCE = ("load/test_scenarios.py", "load/test_soak.py")
NEEDS_A_MODEL = ("model", "gguf")
"""Marks that make a unit test a system test."""

# Files whose tests share what takes long to set up run on one worker, one after the other.
TOGETHER = {
    "tests/end_to_end/test_documents.py": "server",
    "tests/end_to_end/test_http.py": "server",
    "tests/end_to_end/test_streams.py": "server",
    "tests/remote/test_profile.py": "school",
    "tests/remote/test_proxy.py": "school",
}
PROFILE = re.compile(r"tests/conformance/.*\[(local|remote)\b")
"""A conformance test under one of the profiles, each with a server of its own."""
# All workers begin with long groups; short ones fill what is left at the end. The first one embeds the sample book, so
# the second one begins with what needs no embeddings.
FIRST = (
    "conformance-local",
    "tests/test_types.py",
    "conformance-remote",
    "school",
    "tests/keep/test_bundle.py",
    "tests/end_to_end/test_faults.py",
    "tests/chaos/test_chaos_ingest.py",
    "server",
)

PROCESSOR_S = "10"
"""What a test of unit or system may compute. Processor time hardly depends on what else the machine does."""
CLOCK_S = "30"
"""What it may take by the clock, on a machine with a free core: three workers and their servers share two cores."""
CROWDED = 2.0
"""Caches are shared: the same work costs up to so much more processor time while a crowd waits for the cores."""
LOOP_S = 0.0135
"""Processor time of the loop below on the machine that these bars were chosen on."""
ENDS = pytest.StashKey[list[Callable[[], None]]]()
"""What ends with the group of tests that runs now."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The bars can be set in a configuration file, as tests of this file do."""
    parser.addini("processor_s", "processor time that a test of unit or system has", default=PROCESSOR_S)
    parser.addini("clock_s", "seconds by the clock that a test of unit or system has", default=CLOCK_S)
    parser.addoption("--documents", type=int, default=40, help="random documents of each format that are read")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known."""
    config.addinivalue_line("markers", "unit: needs no process and no model")
    config.addinivalue_line("markers", "system: takes real parts: models, databases, servers, a browser")
    config.addinivalue_line("markers", "nightly: installs, trains or takes the remote profile; `just test-all` runs it")
    config.addinivalue_line("markers", "endurance: repeats, loads or torments for minutes; `just test-all` runs it")
    config.addinivalue_line("markers", "slow(why): may take longer than a test of unit or system should")
    config.pluginmanager.register(
        Speed(float(config.getini("processor_s")), float(config.getini("clock_s"))), "lutrin-speed"
    )
    config.pluginmanager.register(Tally(), "lutrin-tally")


def tier_of(item: pytest.Item) -> str:
    """The tier of a test: its own mark, else its file's, else its folder's."""
    for tier in TIERS:
        if item.get_closest_marker(tier):
            return tier
    place = item.path.relative_to(item.config.rootpath / TESTS)
    if place.as_posix() in ENDURANCE:
        return "endurance"
    under = PROFILE.match(item.nodeid)
    if (under and under[1] == "remote") or not {place.parts[0], place.as_posix()}.isdisjoint(NIGHTLY):
        return "nightly"
    if place.parts[0] in SYSTEM or any(item.get_closest_marker(mark) for mark in NEEDS_A_MODEL):
        return "system"
    return "unit"


def group_of(nodeid: str) -> str:
    """The worker group of a test: its file, files that share a server, or a profile."""
    if under := PROFILE.match(nodeid):
        return f"conformance-{under[1]}"
    path = nodeid.partition("::")[0]
    return TOGETHER.get(path, path)


def rank_of(item: pytest.Item) -> tuple[int, int]:
    """Long groups come first, then system, then unit; within a group the order of the files stays."""
    group = group_of(item.nodeid)
    return (FIRST.index(group) if group in FIRST else len(FIRST), -TIERS.index(tier_of(item)))


class Groups(LoadScopeScheduling):  # type: ignore[misc]  # the package has no types
    """Gives a worker a group of tests at a time, in the order in which they were collected.

    `--dist loadgroup` would do, but marks the group in a test's name in a way that pytest 9.2 no longer takes.
    """

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Groups:
    """Take this scheduler for every run with several workers."""
    return Groups(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its tier, and sort them so that all workers end at the same time."""
    for item in items:
        item.add_marker(tier_of(item))
    items.sort(key=rank_of)


def end_with_group(config: pytest.Config, end: Callable[[], None]) -> None:
    """Call `end` after the last test of the running group.

    Servers that a session's fixtures have started would otherwise study their books and hold memory until the last
    test of the worker has ended.
    """
    config.stash.setdefault(ENDS, []).append(end)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End what the group shared, before the fixtures that it needs."""
    if nextitem is None or group_of(nextitem.nodeid) != group_of(item.nodeid):
        ends = item.config.stash.get(ENDS, [])
        while ends:
            ends.pop()()


def processor_s() -> float:
    """Processor time of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def loop_s() -> float:
    """Processor time of a loop: how fast this machine is just now."""
    began_s = time.thread_time()
    total = 0
    for number in range(400_000):
        total += number & 7
    return time.thread_time() - began_s


class Speed:
    """Fails a test of unit or system that takes too long and does not say why.

    On a slower machine both bars are wider, and also while more processes want to run than there are cores, the clock's
    most of all: a busy machine fails nothing.

    Args:
        processor_s: Processor time that a test has on the machine of `LOOP_S`.
        clock_s: What it has there by the clock.
    """

    def __init__(self, processor_s: float, clock_s: float) -> None:
        self._processor_s = processor_s
        self._clock_s = clock_s
        self._slower: float | None = None
        self._spent: tuple[float, float] = (0.0, 0.0)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        """Measure the test itself; what fixtures take is shared by others."""
        clock_s, used_s = time.monotonic(), processor_s()
        try:
            yield
        finally:
            self._spent = (processor_s() - used_s, time.monotonic() - clock_s)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Fail the test that took too long."""
        report = yield
        if call.when == "call" and report.passed and (said := self._verdict(item)):
            report.outcome = "failed"
            report.longrepr = said
        return report

    def _verdict(self, item: pytest.Item) -> str:
        used_s, clock_s = self._spent
        why = item.get_closest_marker("slow")
        if used_s <= self._processor_s and clock_s <= self._clock_s:
            return ""
        if any(item.get_closest_marker(tier) for tier in ("nightly", "endurance")) or (why and why.args):
            return ""
        if self._slower is None:
            self._slower = max(1.0, statistics.median(loop_s() for _ in range(5)) / LOOP_S)
        queue = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        most_s = self._processor_s * self._slower * min(queue, CROWDED)
        most_clock_s = self._clock_s * self._slower * queue
        if used_s <= most_s and clock_s <= most_clock_s:
            return ""
        return (
            f"It took {used_s:.1f} s of processor time and {clock_s:.1f} s by the clock; a test of unit or system has "
            f"{most_s:.0f} and {most_clock_s:.0f} here. Make it shorter, move it to endurance, or say why it needs "
            'them: @pytest.mark.slow("why").'
        )


@dataclass
class Spent:
    """The time of a tier."""

    tests: set[str] = field(default_factory=set)
    work_s: float = 0.0
    first_s: float = float("inf")
    last_s: float = 0.0


class Tally:
    """Prints at the end what each tier took."""

    def __init__(self) -> None:
        self._tiers: dict[str, Spent] = defaultdict(Spent)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test with its fixtures."""
        tier = next((name for name in TIERS if name in report.keywords), None)
        if tier is None:
            return
        spent = self._tiers[tier]
        spent.tests.add(report.nodeid)
        spent.work_s += report.duration
        spent.first_s, spent.last_s = min(spent.first_s, report.start), max(spent.last_s, report.stop)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line for each tier."""
        if self._tiers:
            terminalreporter.section("tiers")
        for name in TIERS:
            if spent := self._tiers.get(name):
                terminalreporter.write_line(
                    f"{name:9} {len(spent.tests):5} tests, {spent.work_s / 60:5.1f} minutes of tests and fixtures, "
                    f"over within {(spent.last_s - spent.first_s) / 60:.1f}"
                )
