"""No visible word vanishes: the text or the report contains all that a browser, Pandoc or Word shows.

How many documents of each format are tried: `pytest --documents 2000`.
"""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import pytest
from requirements.debian import BROWSER
from tests.ingest.random_documents import WORD, Maker, as_epub

from lutrin.errors import DocumentError
from lutrin.ingest.formats import format_of
from lutrin.records import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
needs_pandoc = pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed (Debian: pandoc)")
needs_browser = pytest.mark.skipif(not BROWSER.exists(), reason="there is no Chromium (Debian: chromium)")


@pytest.fixture
def count(request: pytest.FixtureRequest) -> int:
    """Number of documents per format."""
    return int(request.config.getoption("--documents"))


def words_lost(seen: set[str], data: bytes, name: str) -> set[str]:
    """The words that are in no title, unit or notice; none, if the report names the file as one without text."""
    kind = format_of(name)
    assert kind is not None
    try:
        document = kind.parse(BytesIO(data), name, "")
    except DocumentError as error:
        return set() if "holds no text" in str(error) else seen
    return seen - set(WORD.findall(json.dumps(_shown(document))))


def _shown(document: Document) -> list[str]:
    texts = [document.title, *(notice.message for notice in document.notices)]
    for section in document.sections:
        texts += [
            section.title,
            *(f"{unit.lead if unit.kind == 'table_row' else ''} {unit.text}" for unit in section.units),
        ]
    return texts


def seen_by_browser(pages: Sequence[str], folder: Path) -> list[set[str]]:
    """The words that Chromium shows of each page."""
    body = "".join(f'<div class="page-of-test">{page}</div>' for page in pages)
    script = (
        "const seen = [...document.querySelectorAll('.page-of-test')].map(page => page.innerText);"
        "document.body.innerHTML = ''; document.body.append(JSON.stringify(seen));"
    )
    file = folder / "pages.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{body}<script>{script}</script>", encoding="utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--dump-dom"]
    run = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, timeout=240, check=True)
    match = re.search(r"<body[^>]*>(.*)</body>", run.stdout, re.DOTALL)
    assert match is not None
    return [set(WORD.findall(text)) for text in json.loads(html.unescape(match[1]))]


def seen_by_pandoc(source: str, form: str) -> set[str]:
    """The words that Pandoc writes as plain text."""
    command = ["pandoc", "-f", form, "-t", "plain", "--wrap=none"]
    return set(WORD.findall(subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout))


def batches(count: int, size: int = 200) -> list[range]:
    """Seeds in batches."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


@needs_browser
@pytest.mark.browser
@pytest.mark.slow("it starts a browser, and reads every page twice")
def test_what_a_browser_shows_of_pages_is_read_or_named(count: int, tmp_path: Path) -> None:
    """For all elements of HTML, in pages and in books."""
    for seeds in batches(count):
        pages = [Maker(seed).page() for seed in seeds]
        for seed, page, seen in zip(seeds, pages, seen_by_browser(pages, tmp_path), strict=True):
            for data, name in ((f"<html><body>{page}</body></html>".encode(), "a.html"), (as_epub([page]), "a.epub")):
                lost = words_lost(seen, data, name)
                assert not lost, f"{name}, seed {seed}, {lost}: {page}"


@needs_pandoc
@pytest.mark.slow("Pandoc reads each page first")
def test_what_pandoc_shows_of_markdown_is_read_or_named(count: int) -> None:
    """For all blocks and marks of its Markdown."""
    for seed in range(count):
        source = Maker(seed).markdown()
        lost = words_lost(seen_by_pandoc(source, "markdown"), source.encode(), "a.md")
        assert not lost, f"seed {seed}, {lost}: {source}"


@needs_pandoc
@pytest.mark.slow("Pandoc reads each notebook first")
def test_what_pandoc_shows_of_notebooks_is_read_or_named(count: int) -> None:
    """For all kinds of cells and results."""
    for seed in range(count):
        source = Maker(seed).notebook()
        lost = words_lost(seen_by_pandoc(source, "ipynb"), source.encode(), "a.ipynb")
        assert not lost, f"seed {seed}, {lost}: {source}"


@pytest.mark.slow("Word's files are unpacked and packed")
def test_the_text_of_word_documents_is_read_or_named(count: int) -> None:
    """In links, fields, controls, text boxes, changes and nested tables."""
    for seed in range(count):
        data = Maker(seed).word_document()
        with ZipFile(BytesIO(data)) as archive:
            root = ET.fromstring(archive.read("word/document.xml"))  # noqa: S314 - made above
        seen = set(WORD.findall(" ".join(text.text or "" for text in root.iter(f"{_W}t"))))
        lost = words_lost(seen, data, "a.docx")
        assert not lost, f"seed {seed}, {lost}: {ET.tostring(root, encoding='unicode')}"
