"""Notebooks and pages with cells of code: text, code and printed results, as the built page shows them."""

import json
from typing import Any

import pytest
from tests.ingest.made import texts

from lutrin.errors import DocumentError
from lutrin.ingest.markdown import parse_markdown
from lutrin.records import Unit
from lutrin_formats.notebook import parse_notebook


def cell(source: str, *outputs: dict[str, Any], kind: str = "code", tags: tuple[str, ...] = ()) -> dict[str, Any]:
    """A cell of a notebook."""
    return {
        "cell_type": kind,
        "source": source.splitlines(keepends=True),
        "metadata": {"tags": list(tags)},
        "outputs": list(outputs),
    }


def units(*cells: dict[str, Any]) -> list[Unit]:
    """The units of a notebook with these cells."""
    notebook = {"nbformat": 4, "metadata": {"language_info": {"name": "julia"}}, "cells": cells}
    document = parse_notebook(json.dumps(notebook).encode(), "tides.ipynb")
    assert document.title == "Tides"
    return [unit for section in document.sections for unit in section.units]


def test_text_code_and_results_are_read_in_order() -> None:
    """Code knows its language and the sentence before it; of a picture its description is read."""
    found = units(
        cell("# Tides\n\nThey rise.\n\n![x](attachment:a.png)", kind="markdown"),
        cell(
            "height(3)",
            {"output_type": "stream", "text": ["\x1b[31mwarm\x1b[0m\n"]},
            {"output_type": "execute_result", "data": {"text/plain": ["7.2"], "text/html": ["<b>7.2</b>"]}},
            {"output_type": "display_data", "data": {"text/plain": "<Figure size 3x4>", "image/png": "AAAA"}},
            {"output_type": "error", "ename": "KeyError", "evalue": "moon"},
        ),
    )
    assert [(unit.kind, unit.text, unit.language) for unit in found] == [
        ("sentence", "They rise.", ""),
        ("caption", "x", ""),
        ("code", "height(3)", "julia"),
        ("code", "warm", "text"),
        ("code", "7.2", "text"),
        ("code", "KeyError: moon", "text"),
    ]
    assert found[2].lead == "They rise."


def test_hidden_cells_are_not_read() -> None:
    """Hidden inputs and outputs are not read either."""
    result = {"output_type": "stream", "text": "9"}
    found = units(
        cell("# Tides", kind="markdown"),
        cell("secret()", result, tags=("remove-cell",)),
        cell("secret()", result, tags=("hide-input",)),
        cell("shown()", result, tags=("remove-output",)),
    )
    assert [unit.text for unit in found] == ["9", "shown()"]


def test_what_is_no_notebook_is_named() -> None:
    """Or one without text."""
    for data in (b"{}", b"[]", b"no notebook", b'{"cells": [{"cell_type": "markdown", "source": ""}]}'):
        with pytest.raises(DocumentError, match=r"tides\.ipynb"):
            parse_notebook(data, "tides.ipynb")


def test_cells_of_quarto_show_their_code_without_options() -> None:
    """Unless the page hides it."""
    source = (
        "---\ntitle: Bees\n---\n\n```{r}\n#| label: count\nn <- 40\n```\n\n```{python}\n#| echo: false\n"
        "secret()\n```\n\n"
        "```{r, include=FALSE}\nsecret()\n```\n\nA hive of {{< meta title >}}.\n"
    )
    document = parse_markdown(source, "bees.qmd")
    found = [unit for section in document.sections for unit in section.units]
    assert [(unit.kind, unit.text) for unit in found] == [("code", "n <- 40"), ("sentence", "A hive of Bees.")]


def test_what_a_terminal_shows_in_the_end_is_printed() -> None:
    """No colours, no addresses of links, of a bar of progress only its last state; formulas are typeset."""
    printed = "\x1b[1;32mok\x1b[0m and \x1b]8;;http://x.org\x07here\x1b]8;;\x07\n 10%\r 50%\r100%\r\n"
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": [printed]},
        {"output_type": "error", "ename": "ValueError", "evalue": "\x1b[31mbad\x1b[0m", "traceback": []},
        {"output_type": "display_data", "data": {"text/latex": "$x^2$", "text/plain": "x**2"}, "metadata": {}},
    ]
    cell = {"cell_type": "code", "metadata": {}, "source": "", "outputs": outputs}
    document = parse_notebook(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}).encode(), "a.ipynb")
    assert texts(document) == ["ok and here\n100%", "ValueError: bad", "$x^2$"]
