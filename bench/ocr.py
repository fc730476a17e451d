"""Compare readers of scanned pages: words right and seconds a page, on pages that this script makes.

    python bench/ocr.py            # needs lutrin[ocr], reportlab, and for comparison Debian's tesseract-ocr

Each page is set in one of five typefaces, turned into a picture of 150 or 200 dots an inch, tilted a little, blurred,
strewn with noise and pressed as JPEG. Words count as right if they are in the text in their order, letter by letter.
"""

import difflib
import io
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

PAGES = 20
FONTS = ("Times-Roman", "Helvetica", "Times-Italic", "Courier", "Times-Bold")
WORDS = Path(__file__).parents[1] / "docs"


def texts() -> list[list[str]]:
    """The lines of each page: sentences of Lutrin's own handbook."""
    prose = " ".join(path.read_text(encoding="utf-8") for path in sorted(WORDS.glob("*.md")))
    words = [word for word in re.sub(r"[`*_\[\](){}|<>#]", " ", prose).split() if word.isascii() and len(word) < 16]
    pages = []
    for number in range(PAGES):
        taken = words[number * 180 : number * 180 + 180]
        pages.append([" ".join(taken[start : start + 9]) for start in range(0, len(taken), 9)])
    return pages


def scan(lines: list[str], number: int) -> Image.Image:
    """A page as a scanner sees it."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5)
    canvas.setFont(FONTS[number % len(FONTS)], 10)
    for place, line in enumerate(lines):
        canvas.drawString(36, A5[1] - 60 - 16 * place, line)
    canvas.save()
    dots = 150 if number % 2 else 200
    page = pypdfium2.PdfDocument(buffer.getvalue())[0].render(scale=dots / 72).to_pil().convert("L")
    chance = random.Random(number)  # noqa: S311 - pages, not secrets
    page = page.rotate(chance.uniform(-1.0, 1.0), fillcolor=255, resample=Image.Resampling.BICUBIC)
    page = page.filter(ImageFilter.GaussianBlur(chance.uniform(0.2, 0.8)))
    noise = np.random.default_rng(number).normal(0, chance.uniform(4, 16), (page.height, page.width))
    shade = np.clip(np.asarray(page, dtype=float) * 0.92 + 6 + noise, 0, 255).astype(np.uint8)
    pressed = io.BytesIO()
    Image.fromarray(shade).save(pressed, "JPEG", quality=60)
    return Image.open(pressed).convert("RGB")


def right(wanted: list[str], found: list[str]) -> int:
    """Words of the first list that the second holds in the same order."""
    matcher = difflib.SequenceMatcher(None, wanted, found, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


def with_rapidocr() -> Callable[[Image.Image], str]:
    """The reader that Lutrin uses."""
    from lutrin_formats.ocr import Recognizer  # noqa: PLC0415 - only where it is installed

    recognizer = Recognizer()
    return lambda page: " ".join(run.text for run in recognizer.runs(np.asarray(page), 1.0))


def with_tesseract() -> Callable[[Image.Image], str]:
    """Debian's package, with its English data."""

    def read(page: Image.Image) -> str:
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            page.save(file.name, dpi=(180, 180))
            done = subprocess.run(
                ["tesseract", file.name, "-", "-l", "eng"], capture_output=True, text=True, check=True
            )
        return done.stdout

    return read


def main() -> None:
    """Print one line of JSON for each reader."""
    pages = [(lines, scan(lines, number)) for number, lines in enumerate(texts())]
    readers = {"rapidocr": with_rapidocr} | ({"tesseract": with_tesseract} if shutil.which("tesseract") else {})
    for name, make in readers.items():
        read = make()
        read(pages[0][1])
        hits = total = 0
        clock, processor = time.perf_counter(), time.process_time()
        for lines, page in pages:
            wanted = " ".join(lines).split()
            hits += right(wanted, read(page).split())
            total += len(wanted)
        seconds = (time.perf_counter() - clock) / len(pages)
        own = (time.process_time() - processor) / len(pages)
        figures = {"reader": name, "pages": len(pages), "words": total, "right": round(hits / total, 4)}
        sys.stdout.write(json.dumps(figures | {"seconds": round(seconds, 2), "own_processor_s": round(own, 2)}) + "\n")


if __name__ == "__main__":
    main()
