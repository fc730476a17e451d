"""A stranger's files beside a book cost little, whatever they contain."""

import ast
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lutrin.errors import DocumentError
from lutrin.ingest import configuration
from lutrin.ingest.books import open_book
from lutrin.ingest.companion_file import fingerprint_of, read_lines
from lutrin.ingest.configuration import AT_ONCE_CHARS, parse, read_plain, read_small, read_values
from lutrin.ingest.frontmatter import read_front_matter
from lutrin.ingest.scan import IGNORE_FILE, SourceFile, scan

MERGED = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 14))
"""535 bytes whose merge keys take gigabytes."""
DOTTED = "a." * 125_000 + "a = 1\n"
"""250 KB whose dots take gigabytes."""
ROOM_MB = 700


def hostile_book(place: Path) -> Path:
    """A book whose folder holds every trap beside one honest page."""
    book = place / "trap"
    for name in ("one", "two"):
        (book / name).mkdir(parents=True)
        (book / name / "page.md").write_text("# A page\n\nWords.\n")
    (book / "one" / "_category_.yml").write_text(MERGED)
    (book / "two" / "_category_.yml").write_text("label: Two\n" + "- " * 60_000)
    (book / "hugo.toml").write_text(DOTTED)
    (book / "mkdocs.yml").write_text("nav: " + "[" * 60_000)
    (book / "docs.json").write_text('{"navigation":' * 20_000)
    (book / "_toc.yml").write_text("- a\n" * 60_000)
    os.mkfifo(book / IGNORE_FILE)
    os.mkfifo(book / "one" / IGNORE_FILE)
    os.mkfifo(book / "companion.jsonl")
    (book / "myst.yml").symlink_to("/dev/zero")
    with (book / "_config.yml").open("wb") as sparse:
        sparse.truncate(1 << 40)
    return book


@pytest.mark.parametrize("where", [".", pytest.param("..", marks=pytest.mark.nightly)])
def test_traps_beside_a_book_cost_little(tmp_path: Path, where: str) -> None:
    """A folder full of them is read within seconds and 700 MB of address space, and its pages are found."""
    book = hostile_book(tmp_path / "corpus")
    script = "\n".join(
        [
            "import resource, sys",
            "from pathlib import Path",
            "from lutrin.ingest.discover import discover",
            f"resource.setrlimit(resource.RLIMIT_AS, ({ROOM_MB} << 20,) * 2)",
            "found = discover(Path(sys.argv[1]))",
            "print(sorted(file.name for _, files in found.books for file in files))",
        ]
    )
    start_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [sys.executable, "-c", script, str(book / where)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "one/page.md" in done.stdout
    assert "two/page.md" in done.stdout
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start_s < 30


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("toml", DOTTED),
        ("toml", "x = " + "{a = " * 20_000),
        ("toml", "[" + "a." * 100_000 + "a]"),
        ("yaml", MERGED),
        ("yaml", "[" * 100_000),
        ("yaml", "a: &a [1]\nb: *a\n"),
        ("yaml", "a: " + "{a: " * 70 + "1" + "}" * 70),
        ("json", "[" * 100_000 + "]" * 100_000),
        ("json", '{"a":' * 65 + "1" + "}" * 65),
    ],
)
def test_no_text_takes_much_memory_or_time(kind: configuration.Kind, text: str) -> None:
    """It is refused with a reason that its author can use."""
    start_s = time.monotonic()
    with pytest.raises(ValueError, match=r".+"):
        parse(text, kind)
    assert time.monotonic() - start_s < 60


@pytest.mark.parametrize(
    "page", [f"+++\n{DOTTED[-60_000:]}+++\n", f"---\n{MERGED}---\n", f"---\ntitle: T\na: {'[' * 60_000}\n---\n"]
)
def test_a_front_matter_costs_no_more_than_another_configuration(page: str) -> None:
    """Its author is told the reason, and the page below it is read."""
    told: list[str] = []
    before_mb, start_s = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, time.process_time()
    front = read_front_matter(f"{page}\nWords.\n", lambda _at, text: told.append(text))
    assert front.end == len(page)
    assert len(told) == 1
    assert time.process_time() - start_s < 2
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10) - before_mb < 200


def test_large_honest_configurations_are_read(tmp_path: Path) -> None:
    """Beyond what is parsed at once, with the tags and dates of other programs."""
    names = "".join(f"  - Page {n}: page-{n}.md\n" for n in range(1000))
    (tmp_path / "mkdocs.yml").write_text(f"site_name: A book\nmade: 2026-11-26\nhook: !ENV [A]\nnav:\n{names}")
    value = read_values(tmp_path / "mkdocs.yml")
    assert (tmp_path / "mkdocs.yml").stat().st_size > AT_ONCE_CHARS
    assert (value["site_name"], value["made"], value["hook"], len(value["nav"])) == ("A book", "2026-11-26", None, 1000)
    assert parse('a = "b"\n' + "".join(f'n{n} = "a.b.c"\n' for n in range(1000)), "toml")["n999"] == "a.b.c"


def test_links_pipes_devices_and_holes_are_no_files(tmp_path: Path) -> None:
    """Nothing waits for them, and nothing outside of the folder is read."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "holes").open("wb") as sparse:
        sparse.truncate(8 << 20)
    for name in ("link", "pipe", "holes", "missing"):
        with pytest.raises(OSError, match=r".+"):
            read_plain(tmp_path / name, 64 << 20)
        assert read_small(tmp_path / name) == ""
    assert fingerprint_of([tmp_path / "link", tmp_path / "pipe"]) == ""
    assert "not a regular file" in read_lines(tmp_path / "pipe")[0].problem
    book = tmp_path / "book"
    book.mkdir()
    with (book / "page.md").open("wb") as sparse:
        sparse.truncate(8 << 20)
    (book / "book.toml").symlink_to(tmp_path / "secret")
    with pytest.raises(DocumentError, match="holes"):
        SourceFile("page.md", book, 8 << 20).read()
    with pytest.raises(DocumentError, match="cannot be read"):
        open_book(book)


def test_a_list_of_ignored_names_has_a_size(tmp_path: Path) -> None:
    """A large one counts as none; the folder is read."""
    (tmp_path / IGNORE_FILE).write_text("*a*b*c*\n" * 10_000)
    (tmp_path / "page.md").write_text("# A page\n\nWords.\n")
    assert [file.name for file in scan(tmp_path)] == ["page.md"]
    (tmp_path / IGNORE_FILE).write_text("page.md\n")
    assert scan(tmp_path) == []


def test_one_module_reads_what_strangers_write() -> None:
    """No other one of this room parses YAML or TOML, but that of front matter, which has limits of its own."""
    room = Path(configuration.__file__).parent
    vendors = {"yaml", "tomllib"}
    found = {
        path.name
        for path in room.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import) and vendors & {alias.name for alias in node.names}
    }
    assert found - {"roles.py", "makers.py"} == {"configuration.py", "frontmatter.py"}, "these read files of ours"
