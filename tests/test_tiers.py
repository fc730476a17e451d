"""The tiers themselves: every test has one, long tests say why, and endurance tells what is out of date."""

import ast
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests import tiers

from bench import endurance

pytest_plugins = ["pytester"]
WITHOUT = ("-p", "no:locust", "-p", "no:schemathesis", "-p", "no:faker")
"""Plugins that take seconds to load and are not needed."""

BUSY = """
import time

def busy():
    end = time.process_time() + {seconds}
    while time.process_time() < end:
        pass
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A repository of its own with the tiers of this one, and a bar that is soon reached."""
    for name in ("bench", "tests"):
        pytester.mkdir(name)
    pytester.makeini("[pytest]\nprocessor_s = 0.05\nmarkers = model: a model\n")
    return pytester


def write(suite: pytest.Pytester, name: str, text: str) -> None:
    """Write a module of tests."""
    path = suite.path / "tests" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")


def run(suite: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Run its tests."""
    return suite.runpytest_inprocess("-p", "tests.tiers", "-p", "tests.endured", "-p", "no:xdist", *words)


def test_a_folder_decides_and_a_mark_wins(suite: pytest.Pytester) -> None:
    """A test of `serve` is of system, one elsewhere of unit unless it takes a model; its own mark goes before."""
    write(suite, "serve/test_http.py", "def test_a(): pass\n")
    marked = "@pytest.mark.model\ndef test_c(): pass\n\n@pytest.mark.endurance\ndef test_d(): pass\n"
    write(suite, "test_other.py", f"import pytest\n\ndef test_b(): pass\n\n{marked}")
    for tier, names in {"unit": ["test_b"], "system": ["test_a", "test_c"], "endurance": ["test_d"]}.items():
        lines = run(suite, "-m", tier, "--collect-only", "-q").outlines
        assert [line.rpartition("::")[2] for line in lines if "::" in line] == names
    run(suite).stdout.fnmatch_lines(["unit * 1 tests*", "system * 2 tests*", "endurance * 1 tests*"])


@pytest.mark.parametrize(
    ("mark", "failed"),
    [("", 1), ("@pytest.mark.slow('a proof')", 0), ("@pytest.mark.slow", 1), ("@pytest.mark.endurance", 0)],
)
def test_a_long_test_says_why(suite: pytest.Pytester, mark: str, failed: int) -> None:
    """Without a reason it fails and is told what to do; a mark without one is none."""
    body = BUSY.format(seconds=0.3) + f"\nimport pytest\n\n{mark}\ndef test_long():\n    busy()\n"
    write(suite, "test_long.py", body)
    done = run(suite)
    done.assert_outcomes(failed=failed, passed=1 - failed)
    if failed:
        done.stdout.fnmatch_lines(['*Make it shorter, move it to endurance, or say why*@pytest.mark.slow("why").'])


def test_a_machine_that_waits_fails_nobody(suite: pytest.Pytester) -> None:
    """A test that computes little may take far more by the clock: others may have had the processor."""
    write(suite, "test_waiting.py", "import time\n\ndef test_waiting():\n    time.sleep(0.2)\n")
    run(suite).assert_outcomes(passed=1)


def test_what_a_list_names_exists() -> None:
    """No folder or file of the lists has been renamed under it."""
    named = [path for paths in endurance.COVERS.values() for path in paths]
    named += [path for path in (*tiers.FIRST, *tiers.TOGETHER) if "/" in path]
    assert [path for path in named if not (endurance.ROOT / path).exists()] == []


def test_no_mark_takes_back_what_runs_by_night() -> None:
    """A mark of its own would win over the list, and bring an installation into every run."""
    tests = Path(__file__).parent
    listed = [
        path for place in tiers.NIGHTLY for path in (tests / place, *(tests / place).rglob("*.py")) if path.is_file()
    ]
    assert len(listed) > 20
    taken_back = re.compile(r"pytest\.mark\.(?:unit|system)\b")
    assert [path.name for path in listed if taken_back.search(path.read_text("utf-8"))] == []


def test_a_result_holds_until_its_code_changes(tmp_path: Path) -> None:
    """A result of this commit holds; one of an unknown commit, of uncommitted files, or a missing one does not."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=endurance.ROOT, capture_output=True, text=True, check=False)
    if head.returncode:
        pytest.skip("this is no clone of the repository")
    result = {"commit": head.stdout.strip(), "changed": False, "date": "2026-11-24", "figures": {}}
    assert endurance.state_of("site", {}) == endurance.MISSING
    assert endurance.state_of("site", {"site": result | {"changed": True}}).startswith(endurance.OLD)
    assert endurance.state_of("site", {"site": result | {"commit": "0" * 40}}) == endurance.UNKNOWN
    assert endurance.state_of("site", {"site": result}) in {endurance.HOLDS, endurance.OLD}
    kept = tmp_path / "endurance.json"
    kept.write_text(json.dumps({"site": result}), "utf-8")
    script = [sys.executable, str(endurance.ROOT / "bench" / "endurance.py"), "--strict", "--file", str(kept)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout.splitlines()[-1])["states"]["soak"] == endurance.MISSING


def test_figures_are_kept_of_what_passed(suite: pytest.Pytester) -> None:
    """An endurance test's figures are written with commit and date; a short form's are not."""
    write(
        suite,
        "test_figures.py",
        "import pytest\n\n"
        "@pytest.mark.endurance\ndef test_long(endured):\n    endured('long', {'kills': 9})\n\n"
        "@pytest.mark.endurance\ndef test_failed(endured):\n    endured('failed', {})\n    assert False\n\n"
        "def test_short(endured):\n    endured('short', {})\n",
    )
    run(suite).assert_outcomes(passed=2, failed=1)
    written = json.loads((suite.path / "bench" / "endurance.json").read_text("utf-8"))
    assert set(written) == {"long"}
    assert written["long"]["figures"] == {"kills": 9}
    assert {"commit", "changed", "date"} < set(written["long"])


def test_tests_that_share_a_server_are_in_one_group() -> None:
    """Tests that use the school or the end-to-end server run where it was started."""
    shared = {"tests/remote": "school", "tests/end_to_end": "server"}
    for folder, fixture in shared.items():
        for path in sorted((endurance.ROOT / folder).glob("test_*.py")):
            takes = {
                argument.arg
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
                for argument in node.args.args
            }
            if fixture in takes:
                assert tiers.group_of(f"{folder}/{path.name}::test") == fixture


def test_each_profile_is_a_group() -> None:
    """Also where the profile is one parameter of several; other tests stay with their file."""
    path = "tests/conformance/test_e.py"
    assert tiers.group_of(f"{path}::test_a[remote]") == tiers.group_of(f"{path}::test_b[remote-What?]")
    assert tiers.group_of(f"{path}::test_a[local]") != tiers.group_of(f"{path}::test_a[remote]")
    assert tiers.group_of("tests/ports/test_embedder.py::test_a[remote]") == "tests/ports/test_embedder.py"


def test_what_a_group_shares_ends_with_it(suite: pytest.Pytester) -> None:
    """After its last test, and before the first one of the next group."""
    write(
        suite,
        "test_one.py",
        "from tests.tiers import end_with_group\n\n"
        "def test_a(pytestconfig):\n"
        "    pytestconfig.ended = []\n"
        "    end_with_group(pytestconfig, lambda: pytestconfig.ended.append(1))\n\n"
        "def test_b(pytestconfig):\n    assert pytestconfig.ended == []\n",
    )
    write(suite, "test_two.py", "def test_c(pytestconfig):\n    assert pytestconfig.ended == [1]\n" * 2)
    run(suite).assert_outcomes(passed=3)


def test_a_group_stays_on_one_worker(suite: pytest.Pytester) -> None:
    """Two files on two workers: every test of a file says the same worker."""
    body = "import os\n\n" + "".join(
        f"def test_{name}(record_property):\n    record_property('worker', os.environ['PYTEST_XDIST_WORKER'])\n\n"
        for name in "abcdefgh"
    )
    for name in ("test_one.py", "test_two.py"):
        write(suite, name, body)
    done = suite.runpytest_inprocess("-p", "tests.tiers", "-n", "2", "--junitxml", "report.xml", *WITHOUT)
    done.assert_outcomes(passed=16)
    workers: dict[str, set[str]] = {}
    for case in ET.parse(suite.path / "report.xml").iter("testcase"):  # noqa: S314 - pytest wrote it
        workers.setdefault(case.attrib["classname"], set()).update(one.attrib["value"] for one in case.iter("property"))
    assert [len(found) for found in workers.values()] == [1, 1]
