"""Lutrin as a wheel: installed without a checkout, it reads a folder of books, answers, and says what it lacks.

The packages are those of this environment, by links, without the engine.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.end_to_end.processes import COMMAND_S, END_S, START_S, free_port, wait_until
from tests.loopback import NO_TLS

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("llama_cpp", "lutrin", "_lutrin", "_editable_impl_lutrin", "__editable__")
GUESTS = ("lutrin_formats", "lutrin_remote", "lutrin_teacher")
CORE_ROOMS = ("answer", "chats", "index", "language", "query", "search", "study")
LEAST_TESTS = 500
"""Of those rooms; fewer would mean that the tests of a room were not collected."""
UNIT_TESTS_S = 500.0
"""Those of the core take a minute on a free machine."""
ASCIIDOC = """= Tides
:toc:

== Spring tides

A spring tide comes when the sun and the moon pull along *one* line.

WARNING: Never dive at full flow.

[source,python]
----
tide = 3
----

|===
|kind |range

|neap |1 m
|===
"""
BOOK = "# Tides\n\n## Spring tides\n\nA spring tide comes when the sun and the moon pull along one line.\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `just wheel` makes."""
    pytest.importorskip("hatchling", reason="`just test` installs it")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=COMMAND_S)
    (found,) = folder.glob("lutrin-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel and what it needs, but no engine and no checkout."""
    return install(wheel, tmp_path_factory.mktemp("installed"))


def install(wheel: Path, home: Path) -> Path:
    """Make an environment that holds a wheel and the packages of this one; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=COMMAND_S)
    (packages,) = home.glob("lib/python*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(LEFT_OUT):
            (packages / entry.name).symlink_to(entry)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return home / "bin" / "python"


def environment() -> dict[str, str]:
    """As after `pip install`, and with a language model wanted."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH", "TMPDIR") if name in os.environ}
    return kept | {"LUTRIN_MODEL": "small"}


def run(python: Path, cwd: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the installed Lutrin."""
    command = [str(python), "-P", "-m", "lutrin.cli", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment() | variables, capture_output=True, text=True, timeout=COMMAND_S, check=False
    )


def test_the_wheel_holds_what_a_reader_needs(wheel: Path) -> None:
    """Manifest, reader, pages, styles and the widget with its licences travel in it; books, tests and models do not."""
    names = zipfile.ZipFile(wheel).namelist()
    wanted = (
        "lutrin/models/manifest.toml", "lutrin/models/reader/model.onnx", "lutrin/serve/static/reader.css",
        "lutrin/serve/static/widget/lutrin.js", "lutrin/serve/static/widget/lutrin.js.LICENSE.txt",
        "lutrin/serve/static/widget/practice.js.LICENSE.txt", "lutrin/serve/templates/shelf.html",
        "lutrin_teacher/static/teacher.css", "lutrin_teacher/templates/teacher.html",
    )  # fmt: skip
    assert set(wanted) <= set(names)
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == {"lutrin", *GUESTS}
    assert not [name for name in names if name.endswith(".gguf")]


@pytest.mark.slow("an environment is made, a book embedded and a server started: every step of a first run")
def test_an_installed_lutrin_reads_a_folder_and_answers(installed: Path, tmp_path: Path) -> None:
    """`lutrin ingest FOLDER && lutrin serve` in an empty folder: excerpts, pages and the widget, without the engine."""
    (tmp_path / "sea").mkdir()
    (tmp_path / "sea" / "tides.md").write_text(BOOK, "utf-8")
    done = run(installed, tmp_path, "ingest", "sea")
    assert done.returncode == 0, done.stderr + done.stdout
    said: list[str] = []
    with serving(installed, tmp_path, said) as client:
        answer = client.post("/query", json={"question": "When does a spring tide come?"}).raise_for_status().json()
        assert "sun and the moon" in answer["answer"]
        assert answer["kind"] == "extractive"
        assert client.get("/").raise_for_status().text.count("Tides")
        assert client.get("/widget/lutrin.js").raise_for_status().content
        assert client.get("/static/teacher.css").raise_for_status().content
        assert "/static/teacher." in client.get("/teacher").raise_for_status().text
    assert "The engine of the language models is not installed" in said[0]
    assert "llama-cpp-python" in said[0]
    assert "Teachers begin on" in said[0]


@contextmanager
def serving(python: Path, cwd: Path, said: list[str]) -> Iterator[httpx.Client]:
    """A client of an installed server; what the server printed is added to `said` when it has ended."""
    port = free_port()
    server = subprocess.Popen(
        [str(python), "-P", "-m", "lutrin.cli", "serve", "--port", str(port)],
        cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", verify=NO_TLS, timeout=60) as client:
            wait_until(lambda: _is_ready(client, server), START_S, "the server is ready")
            yield client
    finally:
        server.terminate()
        said.append(server.communicate(timeout=END_S)[0])


def _is_ready(client: httpx.Client, server: "subprocess.Popen[str]") -> bool:
    assert server.poll() is None, server.communicate()[0]
    try:
        return client.get("/ready").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def test_doctor_names_what_can_be_done_about_the_engine(installed: Path, tmp_path: Path) -> None:
    """It is a failure with the two remedies, and none of the checks wants a checkout."""
    done = run(installed, tmp_path, "doctor")
    (line,) = [line for line in done.stdout.splitlines() if "language model:" in line]
    assert line.startswith("FAIL")
    assert "LUTRIN_MODEL=none" in line
    assert f"{installed} -m pip install 'llama-cpp-python>=0.3.36'" in line
    assert "justw" not in done.stdout
    assert "ok    embedding model" in done.stdout


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the core and none of its guests."""
    python = install(wheel, tmp_path_factory.mktemp("core"))
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    for guest in GUESTS:
        shutil.rmtree(packages / guest)
    for listed in packages.glob("lutrin-*.dist-info/entry_points.txt"):
        listed.unlink()
    return python


@pytest.mark.slow("an environment is made and a book embedded")
def test_the_core_alone_reads_and_answers_and_names_what_it_cannot_read(core: Path, tmp_path: Path) -> None:
    """Markdown is answered from; a Word document is left out by name; the remote profile says what it needs."""
    (tmp_path / "sea").mkdir()
    (tmp_path / "sea" / "tides.md").write_text(BOOK, "utf-8")
    (tmp_path / "sea" / "notes.docx").write_bytes(b"PK")
    done = run(core, tmp_path, "ingest", "sea")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "notes.docx" in done.stdout
    asked = run(core, tmp_path, "ask", "When does a spring tide come?")
    assert "sun and the moon" in asked.stdout, asked.stderr
    remote = {
        "LUTRIN_PROFILE": "remote",
        "GEMINI_API_KEY": "x",
        "QDRANT_URL": "http://127.0.0.1:1",
        "QDRANT_API_KEY": "x",
    }
    failed = run(core, tmp_path, "ask", "When does a spring tide come?", **remote)
    assert failed.returncode == 1
    assert "needs the package lutrin_remote" in failed.stderr
    said: list[str] = []
    with serving(core, tmp_path, said) as client:
        assert client.get("/study/sea").raise_for_status().text
        assert client.get("/teacher").status_code == httpx.codes.NOT_FOUND
        assert "/teacher" not in client.get("/schema/openapi.json").raise_for_status().text
    assert "Teachers begin on" not in said[0]
    studied = run(core, tmp_path, "study")
    assert studied.returncode == 2
    assert "No such command 'study'" in studied.stderr


@pytest.mark.slow("the unit tests of whole rooms run in an environment of their own")
def test_the_core_passes_its_unit_tests_without_guests(core: Path, tmp_path: Path) -> None:
    """Every file of unit tests that imports no guest, and in whose folder no fixture does."""
    guests = re.compile(rf"(?:import|from|\"|')\s*(?:{'|'.join(GUESTS)})\b")
    able = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path.parent.name in CORE_ROOMS]
    able = [path for path in able if not guests.search(path.read_text("utf-8"))]
    command = [str(core), "-P", "-m", "pytest", "-q", "-x", "-m", "unit", "-p", "no:cacheprovider", "--durations=0"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, f"--basetemp={tmp_path / 'base'}", *map(str, able)],
        cwd=ROOT, env=kept, capture_output=True, text=True, timeout=UNIT_TESTS_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > LEAST_TESTS


def test_a_package_of_somebody_else_adds_a_format(installed: Path, tmp_path: Path) -> None:
    """The example reads AsciiDoc by one entry point: headings, code, boxes and tables as units."""
    folder = ROOT / "examples" / "lutrin-asciidoc"
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=COMMAND_S)
    (built,) = tmp_path.glob("lutrin_asciidoc-*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(tmp_path / "packages")
    (tmp_path / "tides.adoc").write_text(ASCIIDOC, "utf-8")
    packages = {"PYTHONPATH": str(tmp_path / "packages")}
    done = run(installed, tmp_path, "ingest", "--explain", "tides.adoc", **packages)
    assert done.returncode == 0, done.stderr
    for part in ("Spring tides", "sentence! Never dive at full flow.", "row neap", "python, 1 lines: tide = 3"):
        assert part in " ".join(done.stdout.split()), (part, done.stdout)


def test_a_guest_that_cannot_be_loaded_is_named(installed: Path, tmp_path: Path) -> None:
    """With its package and what to do, not as a stack."""
    broken = tmp_path / "packages" / "broken-1.dist-info"
    broken.mkdir(parents=True)
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-guest\nVersion: 1\n", "utf-8")
    (broken / "entry_points.txt").write_text("[lutrin.formats]\nx = nowhere_at_all:FORMATS\n", "utf-8")
    (tmp_path / "a.md").write_text(BOOK, "utf-8")
    done = run(installed, tmp_path, "ingest", "--explain", "a.md", PYTHONPATH=str(tmp_path / "packages"))
    assert done.returncode == 1
    assert "broken-guest" in done.stderr
    assert "uninstall it" in done.stderr
    assert "Traceback" not in done.stderr
