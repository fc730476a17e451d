"""The safety handbook: a PDF as real books are, built from the repository, the same bytes each time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

ROOT = Path(__file__).parents[2]
HANDBOOK = ROOT / "corpus" / "robot-lab-safety-handbook" / "robot-lab-safety-handbook.pdf"


@pytest.fixture(scope="module")
def reader() -> PdfReader:
    """The committed handbook."""
    return PdfReader(HANDBOOK)


def test_the_committed_file_is_what_the_script_builds(tmp_path: Path) -> None:
    """Changes of the text, and nothing else, change the PDF; the order of hashes does not."""
    for seed in ("1", "2"):
        built = tmp_path / f"{seed}.pdf"
        subprocess.run(
            [sys.executable, "-m", "corpus.make_handbook", "--output", str(built)],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        assert built.read_bytes() == HANDBOOK.read_bytes(), "run `just corpus-pdf` and commit the result"


def test_it_has_twenty_pages_of_text(reader: PdfReader) -> None:
    """A reader finds words on every page."""
    assert len(reader.pages) >= 20
    assert [number for number, page in enumerate(reader.pages, 1) if len(page.extract_text().split()) < 10] == []


def test_it_is_not_encrypted(reader: PdfReader) -> None:
    """Anybody may read and search it."""
    assert not reader.is_encrypted


def test_front_matter_is_labelled_in_roman_and_the_body_in_arabic(reader: PdfReader) -> None:
    """Chapter 1 starts on the page labelled 1, and the pages before it count i, ii, iii."""
    labels = reader.page_labels
    body = labels.index("1")
    assert labels[:3] == ["i", "ii", "iii"]
    assert labels[body:] == [str(number) for number in range(1, len(labels) - body + 1)]
    assert "1 Roles and responsibilities" in reader.pages[body].extract_text()


def test_the_outline_leads_to_chapters_and_their_sections(reader: PdfReader) -> None:
    """Each entry of the outline points at the page on which its heading stands."""
    chapters = [entry for entry in reader.outline if not isinstance(entry, list)]
    sections = [entry for group in reader.outline if isinstance(group, list) for entry in group]
    assert len(chapters) >= 15
    assert len(sections) >= 60
    for entry in (*chapters, *sections):
        assert not isinstance(entry, list)
        number = reader.get_destination_page_number(entry)
        assert number is not None
        text = " ".join(reader.pages[number].extract_text().split())
        assert str(entry.title) in text


def test_running_headers_name_book_and_chapter(reader: PdfReader) -> None:
    """Every page after the title says which book and which chapter it belongs to."""
    for page in reader.pages[1:]:
        assert "Robot Lab Safety Handbook, First Edition" in page.extract_text()


def test_only_fonts_that_every_reader_has() -> None:
    """No font file is embedded, so none has a licence to keep."""
    named = re.findall(rb"/BaseFont /([A-Za-z-]+)", HANDBOOK.read_bytes())
    assert set(named) <= {b"Helvetica", b"Helvetica-Bold", b"Times-Roman", b"Times-Bold", b"Times-Italic", b"Symbol"}
    assert b"/FontFile" not in HANDBOOK.read_bytes()
