"""`lutrin ingest` as an operator sees it: lines, figures, exit codes."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from tests.embeddings import Lenders

from lutrin import messages

from . import books
from .conftest import FOUNDATIONS, FOUNDATIONS_SLUG, Library, Lutrin
from .processes import COMMAND_S, LUTRIN, Done, environment, run, wait_until
from .warm import Warm

pytestmark = pytest.mark.model

LINE = re.compile(r"^Processing (.+)\.\.\. (\d+) chunks? created$", re.MULTILINE)
FILES = re.compile(
    r"^Files: (\d+) processed, (\d+) unchanged, (\d+) updated, (\d+) removed, (\d+) failed\.$", re.MULTILINE
)
CHUNKS = re.compile(r"^Chunks: (\d+) created, (\d+) reused, (\d+) removed\.$", re.MULTILINE)
GENERATION = re.compile(r"^Published: (\S+) (\d{6}-[0-9a-f]{8})\.$", re.MULTILINE)

OPEN = "---\ntitle: Open\n---\n\nA winch of 30 kg lifts the robot.\n\n<Box>\n\n{ never closed\n"


def figures(pattern: re.Pattern[str], out: str) -> list[int]:
    """The numbers of the one line that has this form."""
    (line,) = pattern.findall(out)
    return [int(number) for number in line]


def test_each_folder_has_a_line_and_the_summary_adds_them_up(library: Library) -> None:
    """Every chapter is named with its chunks, and the summary counts files, chunks and seconds."""
    done = library.first
    assert done.code == 0, done.err
    lines = LINE.findall(done.out)
    assert [name for name, _ in lines] == books.CHAPTERS
    created = sum(int(count) for _, count in lines)
    assert created >= len(books.MDX_FILES)
    assert figures(FILES, done.out) == [len(books.MDX_FILES), 0, 0, 0, 0]
    assert figures(CHUNKS, done.out) == [created, 0, 0]
    assert re.search(r"^Seconds: \d+\.\d\.$", done.out, re.MULTILINE)
    assert GENERATION.findall(done.out)[0][0] == books.SLUG


def test_a_second_book_stands_beside_the_first(library: Library) -> None:
    """A run on another folder adds its book and takes nothing from the one that is there."""
    assert library.second.code == 0, library.second.err
    assert figures(FILES, library.second.out) == [len(list(FOUNDATIONS.rglob("*.mdx"))), 0, 0, 0, 0]
    assert GENERATION.findall(library.second.out)[0][0] == FOUNDATIONS_SLUG


def test_a_second_run_embeds_nothing(lutrin: Lutrin, library: Library) -> None:
    """On unchanged files nothing is read, embedded or published, and `--json` prints the figures alone."""
    done = lutrin("ingest", library.book, "--json")
    assert done.code == 0, done.err
    summary = done.json()
    assert summary["unchanged"] == len(books.MDX_FILES)
    names = ("processed", "updated", "removed", "failed", "chunks_created", "chunks_reused", "texts_embedded")
    assert {name: summary[name] for name in names} == dict.fromkeys(names, 0)
    assert (summary["published"], summary["errors"]) == ([], [])


def test_only_what_changed_is_read_again(lutrin: Lutrin, book: Path, data_dir: Path) -> None:
    """One changed file is read, one removed file disappears, two stay; known texts are not embedded again."""
    page = book / "02-diving" / "02-lights.mdx"
    page.write_text(page.read_text("utf-8").replace("is red", "is violet"), "utf-8")
    (book / "01-hull" / "02-paint.mdx").unlink()
    summary = lutrin("ingest", book, "--json", data_dir=data_dir).json()
    assert {name: summary[name] for name in ("processed", "unchanged", "updated", "removed")} == {
        "processed": 1,
        "unchanged": 2,
        "updated": 1,
        "removed": 1,
    }
    assert summary["texts_embedded"] == 1
    found = lutrin("retrieve", "How long does copper paint keep barnacles away?", data_dir=data_dir).out
    assert "02-paint.mdx" not in found


@pytest.fixture(scope="module")
def flawed(
    tmp_path_factory: pytest.TempPathFactory, models_dir: Path, empty_folder: Path, lenders: Lenders
) -> tuple[Done, dict[str, str]]:
    """The ingest of a book with a page that is no text and one that MDX refuses; the variables to ask it."""
    place = tmp_path_factory.mktemp("flawed")
    book = books.write_book(place / "tidepool")
    (book / "01-hull" / "03-binary.mdx").write_bytes(b"---\ntitle: Binary\n---\n\x00\x81\xfe{<\x00" * 40)
    (book / "01-hull" / "04-open.mdx").write_text(OPEN, "utf-8")
    variables = environment(models_dir, place / "data", LUTRIN_MODEL="none")
    lenders.lend_to(place / "data")
    return run(variables, empty_folder, "ingest", book), variables


def test_a_broken_file_is_named_and_the_rest_goes_on(flawed: tuple[Done, dict[str, str]], warm: Warm) -> None:
    """Bytes that are no text, and MDX that is none, cost one line each and the exit code 1; the rest can be asked."""
    done, variables = flawed
    assert done.code == 1
    binary, unclosed = re.findall(r"^Failed: .+$", done.out, re.MULTILINE)
    assert binary == "Failed: 01-hull/03-binary.mdx: is not a text file"
    assert re.match(r"Failed: 01-hull/04-open\.mdx: line 9: a brace .+ is never closed; .+--lenient", unclosed)
    assert figures(FILES, done.out) == [len(books.MDX_FILES), 0, 0, 0, 2]
    assert "Traceback" not in done.out + done.err
    answer = warm.run(variables, "ask", books.QUESTION, "--json").json()
    assert books.ANSWER_FILE in {source["filename"] for source in answer["sources"]}


def test_bad_mdx_is_read_as_far_as_it_goes_where_that_is_asked_for(
    flawed: tuple[Done, dict[str, str]], tmp_path: Path, warm: Warm, lenders: Lenders
) -> None:
    """With `--lenient` its author gets a note with file and line, and its words are found."""
    _, variables = flawed
    book = books.write_book(tmp_path / "tidepool")
    (book / "01-hull" / "04-open.mdx").write_text(OPEN, "utf-8")
    elsewhere = variables | {"LUTRIN_DATA_DIR": str(tmp_path / "data")}
    lenders.lend_to(tmp_path / "data")
    done = warm.run(elsewhere, "ingest", book, "--lenient")
    assert done.code == 0, done.out
    assert re.search(r"^Note: 01-hull/04-open\.mdx:\d+: .+ never closed", done.out, re.MULTILINE)
    passages = warm.run(elsewhere, "retrieve", "What lifts the robot?").json()
    assert "A winch of 30 kg lifts the robot." in passages[0]["text"]


@pytest.mark.parametrize("there", [True, False], ids=["empty", "missing"])
def test_a_corpus_without_books_is_said(lutrin: Lutrin, tmp_path: Path, there: bool) -> None:
    """An empty or missing folder ends with one sentence, its remedy and the exit code 1."""
    corpus = tmp_path / "corpus"
    if there:
        corpus.mkdir()
        (corpus / "notes.csv").write_text("not,a,book", "utf-8")
    done = lutrin("ingest", corpus, data_dir=tmp_path / "data")
    assert (done.code, done.out) == (1, "")
    if there:
        expected = (
            r"holds no \.docx, .*\.md, \.mdx, .*\.pdf, .* file\.\n  notes\.csv: is a \.csv file, not text to read\. "
        )
    else:
        expected = r"There is no folder .*\. "
    assert re.search(f"{expected}Put your books there", done.err)
    assert str(corpus) in done.err.partition("\n")[0]


def test_a_book_without_text_is_a_book_and_its_author_is_told(lutrin: Lutrin, tmp_path: Path) -> None:
    """A page that is a title alone can be published, asked and mended; a text of one line is not taken for a title."""
    (tmp_path / "tides").mkdir()
    (tmp_path / "tides" / "moon.md").write_text("# Moon\n", "utf-8")
    done = lutrin("ingest", tmp_path / "tides", data_dir=tmp_path / "data")
    assert done.code == 0, done.err
    assert "Note: moon.md: has no text besides its title\n" in done.out + "\n"
    assert lutrin("retrieve", "What pulls the sea?", data_dir=tmp_path / "data").json() == []
    (tmp_path / "tides" / "sea.txt").write_text("the moon pulls the sea", "utf-8")
    assert lutrin("ingest", tmp_path / "tides", data_dir=tmp_path / "data").code == 0
    (found,) = lutrin("retrieve", "What pulls the sea?", data_dir=tmp_path / "data").json()
    assert found["text"] == "the moon pulls the sea"


def test_a_second_ingest_meanwhile_leaves_at_once(
    lutrin: Lutrin, models_dir: Path, book: Path, tmp_path: Path, empty_folder: Path
) -> None:
    """While one process ingests, another says so and ends; the first then finishes its work."""
    data = tmp_path / "data"
    first = subprocess.Popen(
        [LUTRIN, "ingest", str(book)],
        env=environment(models_dir, data),
        cwd=empty_folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_until((data / "catalog.db").exists, COMMAND_S, "the first process has the lock")
        os.kill(first.pid, signal.SIGSTOP)
        second = lutrin("ingest", book, data_dir=data)
        assert first.poll() is None, "the first process had ended before the second one began"
        os.kill(first.pid, signal.SIGCONT)
        out, _ = first.communicate(timeout=COMMAND_S)
    finally:
        first.kill()
        first.wait()
    assert (second.code, second.out, second.err) == (1, "", f"{messages.INGEST_IN_PROGRESS}\n")
    assert (first.returncode, figures(FILES, out)[0]) == (0, len(books.MDX_FILES)), out


def test_without_its_embedding_model_nothing_is_read(lutrin: Lutrin, book: Path, models: Path, tmp_path: Path) -> None:
    """The missing file is named, and the remedy is a command."""
    (models / "reader" / "model.onnx").unlink()
    done = lutrin("ingest", book, data_dir=tmp_path / "data", models=models)
    assert (done.code, done.out) == (1, "")
    assert done.err.endswith("is missing. Run `lutrin models fetch default`.\n")
