"""Jupyter notebooks (.ipynb): their text, code and printed results, as Markdown."""

import json
import re
from collections.abc import Iterator
from typing import Any

from lutrin.errors import DocumentError
from lutrin.ingest.hypertext import document_of, fence, left_out_notices, soup_of, to_markdown
from lutrin.records import Document

_HIDDEN = frozenset({"remove-cell", "remove_cell", "hide-cell", "hide_cell"})
_NO_INPUT = frozenset({"remove-input", "remove_input", "hide-input", "hide_input"})
_NO_OUTPUT = frozenset({"remove-output", "remove_output", "hide-output", "hide_output"})
_ATTACHED = re.compile(r"\((?:attachment:|data:)[^)]*\)")
"""The address of a picture embedded in the notebook; its description stays."""
_SEEN = ("text/plain", "image/png", "image/jpeg", "image/gif", "image/svg+xml")
"""Results that are pictures, or name one."""
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")
"""Colours and links of a terminal (ECMA-48)."""
_LONGEST_RESULT = 4_000
"""Characters of one printed result: logs of a training run do not belong to a book's text."""


def parse_notebook(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a Jupyter notebook, version 3 or 4, as Markdown: its cells, with code and results in fences.

    Raises:
        DocumentError: It is not a notebook, or contains no text.
    """
    try:
        notebook = json.loads(data)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        left_out: list[str] = []
        source = "\n\n".join(part for cell in cells for part in _cell(cell, _language(notebook), left_out))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise DocumentError(filename, "is damaged, or no notebook; open it in Jupyter and save it again") from error
    return document_of(f"{source}\n", filename, notices=left_out_notices(filename, left_out))


def _language(notebook: dict[str, Any]) -> str:
    about = notebook.get("metadata") or {}
    language = (about.get("language_info") or {}).get("name") or (about.get("kernelspec") or {}).get("language")
    return str(language or "python").lower().split()[0]


def _cell(cell: dict[str, Any], language: str, left_out: list[str]) -> Iterator[str]:
    """The parts of a cell as Markdown; unread parts are added to `left_out`."""
    about = cell.get("metadata") or {}
    tags = set(about.get("tags") or ())
    kind, source = cell.get("cell_type"), _join(cell.get("source", cell.get("input", "")))
    if not tags.isdisjoint(_HIDDEN):
        return
    if kind == "markdown":
        yield _ATTACHED.sub("()", source).strip()
    elif kind == "heading":
        yield f"{'#' * int(cell.get('level', 1))} {source.strip()}"
    elif kind == "code":
        hidden = (about.get("jupyter") or {}).get("source_hidden") or not tags.isdisjoint(_NO_INPUT)
        if source.strip() and not hidden:
            yield fence(source.replace("\r\n", "\n").strip("\n"), language)
        for output in cell.get("outputs") or () if tags.isdisjoint(_NO_OUTPUT) else ():
            yield from _output(output, left_out)
    elif kind == "raw" and source.strip():
        form = str(about.get("raw_mimetype") or about.get("format") or "")
        if form == "text/html":
            yield to_markdown(soup_of(source), left_out=left_out).strip()
        else:
            yield source.strip() if form == "text/markdown" else fence(source.strip("\n"), "text")


def _output(output: dict[str, Any], left_out: list[str]) -> Iterator[str]:
    data = output.get("data") or {}
    if typeset := _join(data.get("text/markdown", data.get("text/latex", ""))).strip():
        yield typeset
    elif result := _result(output).strip("\n"):
        if len(result) > _LONGEST_RESULT:
            left_out.append(result[_LONGEST_RESULT:])
        yield fence(result[:_LONGEST_RESULT].rstrip("\n"), "text")
    elif page := _join(data.get("text/html", "")).strip():
        yield to_markdown(soup_of(page), left_out=left_out).strip()
    else:
        left_out += [name for name in data if name not in _SEEN]


def _result(output: dict[str, Any]) -> str:
    if output.get("output_type") == "stream":
        return _terminal_text(output.get("text", ""))
    if output.get("output_type") in {"error", "pyerr"}:
        return _terminal_text(f"{output.get('ename', 'Error')}: {output.get('evalue', '')}")
    text = _terminal_text((output.get("data") or output).get("text/plain", output.get("text", "")))
    return "" if text.startswith("<") and text.rstrip().endswith(">") else text  # `<Figure size 640x480 with 1 Axes>`


def _terminal_text(output: object) -> str:
    """The final state of a terminal after some output: no control characters, and of each line the last version."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in _CONTROL.sub("", _join(output)).split("\n"))


def _join(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
