"""The widget and the reader in a real Chromium: each suite of `web/tests` is one test here.

The suites of `web/tests/browser` have a scripted server, those of `web/tests/real` Lutrin itself with a small book and
the tiny model. The Docusaurus site takes minutes to install and build, hence it is looked at here only where
`just site` has built it; `just e2e` always does.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
TESTS = WEB / "tests"
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
SUITES = sorted(
    path.relative_to(TESTS).as_posix() for kind in ("browser", "real") for path in TESTS.glob(f"{kind}/*.test.ts")
)
LIMIT_S = 280

pytestmark = [pytest.mark.browser]


@pytest.fixture(scope="module")
def npm() -> str:
    """Where npm is; skips where Node.js or the packages of `web/` cannot be had, as `requirements/packages.py` says."""
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


def run(npm: str, folder: Path, *words: str) -> None:
    """Run a command of npm's; what it printed is shown if it fails."""
    environment = {**os.environ, "LUTRIN": str(Path(sys.executable).with_name("lutrin")), "NO_COLOR": "1"}
    done = subprocess.run(
        [npm, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite: str, npm: str, chromium: Path) -> None:
    """Every journey of the suite, with no violation of the policy and no request to another origin."""
    assert chromium.exists()
    run(npm, TESTS, "exec", "--", "vitest", "run", suite)


def test_site(npm: str, chromium: Path) -> None:
    """The plugin on the built Docusaurus site, on three kinds of page."""
    assert chromium.exists()
    if not (WEB / "site" / "build" / "index.html").is_file():
        pytest.skip("the sample site is not built; `just e2e` builds it and runs this")
    run(npm, TESTS, "exec", "--", "vitest", "run", "site/site.test.ts")


@pytest.mark.parametrize("package", ["widget", "docusaurus-plugin-lutrin"])
def test_units(package: str, npm: str) -> None:
    """What needs no browser."""
    run(npm, WEB / package, "test")


def test_types(npm: str) -> None:
    """The browser suite has no TypeScript error."""
    run(npm, TESTS, "exec", "--", "tsc")


def test_the_widget_is_what_its_sources_build(npm: str) -> None:
    """Built again, it is the committed file byte for byte, has no TypeScript error and keeps to its budget."""
    run(npm, WEB / "widget", "run", "check")
