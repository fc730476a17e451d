"""PDFs that are locked, broken, or made to do harm: each is named, and costs its reader little."""

import os
import resource
import time
from io import BytesIO
from pathlib import Path

import pypdf
import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.end_to_end.processes import children
from tests.endured import Endured
from tests.ingest.drawn import BODY, heading, pdf, text, texts

from lutrin.errors import DocumentError
from lutrin.ingest.sandbox import read_in_sandbox
from lutrin_formats.pdf import parse_pdf


def encrypted(algorithm: str, user: str, owner: str) -> bytes:
    """A page of two words, encrypted by pypdf."""
    writer = pypdf.PdfWriter(clone_from=BytesIO(pdf(lambda canvas: text(canvas, ["Secret words."]) and None)))
    writer.encrypt(user, owner, algorithm=algorithm)
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_an_encrypted_file_needs_its_password() -> None:
    """It is named as encrypted, a wrong password as wrong, and the right one opens it, the owner's as well."""
    for algorithm in ("RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"):
        data = encrypted(algorithm, "open sesame", "the owner's")
        with pytest.raises(DocumentError, match="is encrypted; give its password"):
            parse_pdf(data, "locked.pdf")
        with pytest.raises(DocumentError, match="the password is wrong"):
            parse_pdf(data, "locked.pdf", "sesame")
        for password in ("open sesame", "the owner's"):
            assert texts(read_in_sandbox(data, "locked.pdf", password)) == ["Secret words."]


@pytest.mark.parametrize("password", ["", "of another file"])
@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_file_that_only_forbids_changes_needs_no_password(algorithm: str, password: str) -> None:
    """Its owner's password only protects it from changes, so no password is needed to read it."""
    assert texts(parse_pdf(encrypted(algorithm, "", "the owner's"), "open.pdf", password)) == ["Secret words."]


def test_what_cannot_be_read_is_named() -> None:
    """In one sentence, with the file's name."""
    for data, message in (
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"Hello, this is text.", "is not a complete PDF"),
        (b"%PDF-1.7\n" + b"\0" * 1000, "is not a complete PDF"),
        (pdf(lambda canvas: canvas.rect(10, 10, 100, 100)), "only pictures"),
    ):
        with pytest.raises(DocumentError, match=message) as caught:
            parse_pdf(data, "broken.pdf")
        assert caught.value.filename == "broken.pdf"


def test_every_truncation_is_read_or_named() -> None:
    """Half a file never ends in anything but a document or one sentence."""

    def page(canvas: Canvas) -> None:
        heading(canvas, "Title")
        text(canvas, BODY)

    data = pdf(page, page)
    outcomes: set[bool] = set()
    for cut in range(0, len(data), 61):
        try:
            outcomes.add(bool(parse_pdf(data[:cut], "cut.pdf").sections))
        except DocumentError as error:
            outcomes.add("\n" in error.detail)
    assert False in outcomes


def test_the_child_gives_the_same_document() -> None:
    """Process boundaries change nothing."""
    data = pdf(lambda canvas: text(canvas, BODY))
    assert read_in_sandbox(data, "a/b c.pdf") == parse_pdf(data, "a/b c.pdf")
    with pytest.raises(DocumentError, match=r"^x\.pdf: is empty"):
        read_in_sandbox(b"", "x.pdf")


def bomb(megabytes: int) -> bytes:
    """A small PDF whose one page inflates to many megabytes of drawing operators."""
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(200, 200)
    stream = pypdf.generic.StreamObject()
    stream.set_data(b"BT /F1 9 Tf (a) Tj ET\n" * (megabytes * 1024 * 1024 // 22))
    page[pypdf.generic.NameObject("/Contents")] = writer._add_object(stream.flate_encode(9))
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def _spent_s() -> float:
    """Processor time of the children that have ended, and of those of our children (proc(5), `stat`, `cutime`)."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    stats = [Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split() for pid in children(os.getpid())]
    ticks = sum(int(fields[13]) + int(fields[14]) for fields in stats)
    return usage.ru_utime + usage.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("megabytes", "limit_s"),
    [pytest.param(40, 2, id="short"), pytest.param(100, 8, id="long", marks=pytest.mark.endurance)],
)
def test_a_bomb_costs_one_error_line(megabytes: int, limit_s: float, endured: Endured) -> None:
    """Whether it eats time or memory, its process ends and ours goes on unharmed."""
    data = bomb(megabytes)
    assert len(data) < 1024 * 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, spent = time.monotonic(), _spent_s()
    with pytest.raises(DocumentError, match=r"^bomb\.pdf: "):
        read_in_sandbox(data, "bomb.pdf", time_limit_s=limit_s)
    assert 1 < _spent_s() - spent < limit_s + 2
    assert time.monotonic() - began < 4 * limit_s + 4
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    endured("pdf bomb", {"megabytes": megabytes, "limit_s": limit_s})


def test_memory_is_limited() -> None:
    """A file that needs more than its share is named as such, and this process has not grown."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DocumentError, match=r"^big\.md: needs more than 64 MB of memory"):
        read_in_sandbox(b"words " * 3_000_000, "big.md", memory_limit_bytes=64 * 1024 * 1024)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
