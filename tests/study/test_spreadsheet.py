"""Tables for spreadsheets hold text and nothing that is computed."""

import csv
import shutil
import subprocess
import time
from itertools import product
from pathlib import Path

import pytest

from lutrin.spreadsheet import MARK, as_text, to_csv

SIGNS = ("=1+1", "+1+1", "-1+1", "@SUM(1)", "\uff1d1+1", '=HYPERLINK("http://evil.example";"x")')
BEFORE = ("", ";", "\t", "\n", "\r\n", "a;", "a\t", "a\n", " ", "\t\n ;", '"', "; '")


def test_no_cell_begins_a_formula() -> None:
    """Neither at its start nor after a character that some spreadsheet takes for the end of a cell."""
    for before, sign in product(BEFORE, SIGNS):
        table = to_csv(["a"], [[before + sign]]).removeprefix(MARK)
        (row,) = [*csv.reader(table.splitlines(keepends=True))][1:]
        for piece in (row[0], *row[0].replace("\t", ";").replace("\n", ";").replace("\r", ";").split(";")):
            assert piece.strip(" \"'")[:1] not in set("=+-@\uff1d") or "'" in piece


def test_other_cells_stay_as_they_are() -> None:
    """Signs within words and sums are no formulas; the file says that it is UTF-8."""
    for text in ("a-b", "1 + 1 = 2", "me@school.example", "x;y", "naïve", ""):
        assert as_text(text) == text
    assert to_csv(["a"], []).encode()[:3] == b"\xef\xbb\xbf"


@pytest.mark.parametrize("sign", ["\t", "\n", " ", "; "])
def test_a_question_of_blanks_takes_no_time(sign: str) -> None:
    """A table of a thousand of them is made while others are answered; none is a formula."""
    text = sign * 100_000 + "x"
    began_s = time.process_time()
    assert as_text(text) == text
    assert time.process_time() - began_s < 0.5


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.slow("LibreOffice starts")
def test_libreoffice_computes_nothing(tmp_path: Path) -> None:
    """Opened there, the file has texts and no formula."""
    path = tmp_path / "table.csv"
    path.write_text(to_csv(["a"], [[before + sign] for before in BEFORE for sign in SIGNS]), "utf-8")
    command = ["soffice", "--headless", "--convert-to", "fods", "--outdir", str(tmp_path), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    made = (tmp_path / "table.fods").read_text("utf-8")
    assert "SUM(1)" in made
    assert "table:formula" not in made
