"""Documents made at random from all that browsers, Pandoc and Word know, each word in them another one."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random

from tests.ingest.made import docx, epub

WORD = re.compile("q[bcdfghjkmnprstvw]{4}")
MARKUP: Mapping[str, list[str]] = tomllib.loads(Path(__file__).with_name("markup.toml").read_text(encoding="utf-8"))
_LETTERS = "bcdfghjkmnprstvw"


class Maker:
    """Makes documents; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._words: Iterator[str] = map("".join, product("q", *[_LETTERS] * 4))

    def word(self) -> str:
        """A word that stands nowhere else."""
        return next(self._words)

    def words(self) -> str:
        """One to three of them."""
        return " ".join(self.word() for _ in range(self.random.randint(1, 3)))

    def some(self, make: Callable[[int], str], depth: int, most: int = 3) -> str:
        """A few of a kind in a row."""
        return " ".join(make(depth) for _ in range(self.random.randint(1, most)))

    # HTML ---------------------------------------------------------------------------------------------------------

    def inline(self, depth: int) -> str:
        """Running text with elements."""
        if depth <= 0 or self.random.random() < 0.3:
            return self.words()
        name = self.random.choice(MARKUP["inline"])
        inside = self.some(self.inline, depth - 1, 2)
        return name.format(inside=inside, a=self.word(), b=self.word(), c=self.word())

    def block(self, depth: int) -> str:
        """A block of a page."""
        if depth <= 0 or self.random.random() < 0.3:
            return f"<p>{self.some(self.inline, 2)}</p>"
        name = self.random.choice(MARKUP["blocks"])
        parts = {key: self.some(self.inline, depth - 1, 2) for key in "abcd"}
        return name.format(inside=self.some(self.block, depth - 1), **parts)

    def page(self) -> str:
        """The body of a page of HTML; some begin with a menu, some have words between blocks."""
        body = self.some(self.block, 3, 4)
        if self.random.random() < 0.2:
            name = self.random.choice(["main", "article"])
            body = f"<nav>{self.words()}</nav><{name}>{body}</{name}><p>{self.words()}</p>"
        return "\n".join([body, *([self.words()] if self.random.random() < 0.2 else [])])

    # Markdown -----------------------------------------------------------------------------------------------------

    def markdown_inline(self, depth: int) -> str:
        """Running text as Pandoc writes it."""
        if depth <= 0 or self.random.random() < 0.4:
            return self.words()
        inside = self.markdown_inline(depth - 1)
        return self.random.choice(MARKUP["markdown_inline"]).format(inside=inside, a=self.word(), b=self.word())

    def markdown_block(self, depth: int) -> str:
        """A block of Markdown, its lines from the left edge."""
        if depth <= 0 or self.random.random() < 0.25:
            return self.some(self.markdown_inline, 2)
        form = self.random.choice(MARKUP["markdown_blocks"])
        parts = {key: self.markdown_inline(1) for key in "abcd"}
        inside = self.markdown_block(depth - 1)
        indented = "\n".join(f"    {line}" if line else "" for line in inside.split("\n")).lstrip()
        quoted = "\n".join(f"> {line}" for line in inside.split("\n"))
        note = f"n{self.word()[1:]}"
        return form.format(inside=inside, indented=indented, quoted=quoted, note=note, **parts)

    def markdown(self) -> str:
        """A page of Markdown."""
        blocks = [self.markdown_block(2) for _ in range(self.random.randint(2, 4))]
        return f"# {self.words()}\n\n" + "\n\n<!-- -->\n\n".join(blocks) + "\n"

    # Other formats ------------------------------------------------------------------------------------------------

    def notebook(self) -> str:
        """A notebook of Jupyter with cells of all kinds and results of most."""
        cells: list[dict[str, object]] = [{"cell_type": "markdown", "metadata": {}, "source": self.markdown()}]
        for _ in range(self.random.randint(1, 3)):
            result = {"data": {"text/plain": self.words()}, "metadata": {}, "execution_count": 1}
            outputs: list[dict[str, object]] = [
                {"output_type": "stream", "name": "stdout", "text": self.words()},
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": f"<p>{self.words()}</p>"}},
                {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": self.words()}},
                {"output_type": "execute_result", **result},
                {"output_type": "error", "ename": self.word(), "evalue": self.words(), "traceback": []},
            ]  # fmt: skip
            chosen = self.random.sample(outputs, self.random.randint(0, 2))
            code: dict[str, object] = {"execution_count": 1, "source": f"{self.word()} = 1", "outputs": chosen}
            cells.append({"cell_type": "code", "metadata": {}, **code})
            cells.append({"cell_type": "raw", "metadata": {}, "source": self.words()})
        return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells})

    def word_run(self, depth: int) -> str:
        """A random run of a paragraph of Word."""
        run = f'<w:r><w:t xml:space="preserve">{self.words()} </w:t></w:r>'
        if depth <= 0 or self.random.random() < 0.4:
            return run
        inside = self.word_run(depth - 1)
        return self.random.choice(MARKUP["word_runs"]).format(run=run, inside=inside, a=self.word())

    def word_block(self, depth: int) -> str:
        """A paragraph, table or holder of Word."""
        paragraph = f"<w:p>{self.some(self.word_run, 2)}</w:p>"
        if depth <= 0 or self.random.random() < 0.4:
            return paragraph
        inside = self.some(self.word_block, depth - 1, 2)
        return self.random.choice(MARKUP["word_blocks"]).format(inside=inside, paragraph=paragraph, a=self.words())

    def word_document(self) -> bytes:
        """A document of Word."""
        return docx(*[self.word_block(2) for _ in range(self.random.randint(2, 4))])


def as_epub(pages: Sequence[str]) -> bytes:
    """A book of these pages."""
    return epub({f"p{number}.xhtml": page for number, page in enumerate(pages)})
