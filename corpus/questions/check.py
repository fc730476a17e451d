"""Proves that the question files tell the truth about the books: `python -m corpus.questions.check`.

In the book: files, sections, key facts and selections stand where the question says, and no question is copied from
the sentence that answers it. Out of the book: the counts of each kind, and for *near* questions terms that every answer
would need and that the books do not have. Prints every fault and exits with 1, or prints the counts.
"""

import argparse
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from pypdf import PdfReader

HERE = Path(__file__).parent
KINDS = {"definition", "how", "why", "compare", "code", "multi-chapter", "followup", "table", "number"}
NEEDED = {"id", "question", "kind", "expected_files", "expected_section", "key_facts", "match"}
OPTIONAL = {"selected_text", "previous_question"}
OUTSIDE = {"far": 30, "near": 40, "nonenglish": 10, "vague": 10, "injection": 10}
MIN_QUESTIONS = 150
MIN_SELECTIONS = 30
COPIED_WORDS = 8  # a run of this many words shared with one sentence counts as copied

Record = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """One file of a book as text, with the text under each of its headings."""

    text: str
    sections: dict[str, str] = field(default_factory=dict)

    @cached_property
    def plain(self) -> str:
        """The text in lower case with single spaces."""
        return plain(self.text)

    @cached_property
    def sentences(self) -> list[list[str]]:
        """The words of each sentence, list item or table row."""
        return [words(part) for part in re.split(r"(?<=[.?!:])\s|\n\s*\n|\n\s*[-*|\d]", self.text)]


def plain(text: str) -> str:
    """Lower case, single spaces, composed characters."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def words(text: str) -> list[str]:
    """The words of a text in lower case, without marks."""
    return re.findall(r"[\w']+", text.casefold())


def read_mdx(path: Path) -> Page:
    """A page of the textbook; the front matter's title names the text before the first heading and the whole page."""
    text = path.read_text(encoding="utf-8")
    front = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    title = re.search(r"^title: *[\"']?(.+?)[\"']?$", front[1], re.MULTILINE) if front else None
    sections = {title[1]: text} if title else {}
    open_headings: list[tuple[int, str]] = []
    fence = ""
    for line in text.splitlines():
        if mark := re.match(r"\s*(```+|~~~+)", line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        heading = None if fence else re.match(r"(#+) +(.+?)(?: *\{#.*\})? *$", line)
        if heading:
            level = len(heading[1])
            open_headings = [pair for pair in open_headings if pair[0] < level] + [(level, heading[2])]
            sections.setdefault(heading[2], "")
        for _, name in open_headings:
            sections[name] += line + "\n"
    return Page(text, sections)


def read_pdf(path: Path) -> Page:
    """A handbook: outline titles name the text from their heading to the next heading of the same or a higher level."""
    reader = PdfReader(path)
    parts = [re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", page.extract_text()) for page in reader.pages]
    text = "\n".join(parts)
    offsets = [0, *accumulate(len(part) + 1 for part in parts)]
    entries = [
        (level, title, _find_heading(text, title, offsets[number]))
        for level, title, number in _outline(reader, reader.outline, 1)
    ]
    sections = {}
    for index, (level, title, start) in enumerate(entries):
        end = next((other for depth, _, other in entries[index + 1 :] if depth <= level), len(text))
        sections[title] = text[start:end]
    return Page(text, sections)


def _outline(reader: PdfReader, entries: Iterable[Any], level: int) -> Iterator[tuple[int, str, int]]:
    """Level, title and page index of each entry, in reading order."""
    for entry in entries:
        if isinstance(entry, list):
            yield from _outline(reader, entry, level + 1)
        else:
            yield level, str(entry.title), reader.get_destination_page_number(entry) or 0


def _find_heading(text: str, title: str, start: int) -> int:
    """Where a heading stands at or after a position; it may be broken into lines."""
    found = re.compile(r"\s+".join(map(re.escape, title.split()))).search(text, start)
    if found is None:
        raise ValueError(f"heading of the outline not on its page: {title}")
    return found.start()


def read_books(corpus: Path) -> dict[str, Page]:
    """All pages of all books below a folder, by path relative to it; a book is a folder with `book.toml`."""
    pages = {}
    for book in sorted(path.parent for path in corpus.glob("*/book.toml")):
        for path in sorted(book.rglob("*")):
            if path.suffix in {".md", ".mdx"}:
                pages[path.relative_to(corpus).as_posix()] = read_mdx(path)
            elif path.suffix == ".pdf":
                pages[path.relative_to(corpus).as_posix()] = read_pdf(path)
    return pages


def longest_shared_run(question: list[str], sentence: list[str]) -> int:
    """Length of the longest run of words that stands in both."""
    best = 0
    previous = [0] * (len(sentence) + 1)
    for word in question:
        current = [0] * (len(sentence) + 1)
        for index, other in enumerate(sentence, start=1):
            if word == other:
                current[index] = previous[index - 1] + 1
                best = max(best, current[index])
        previous = current
    return best


def check_record(record: Record, pages: dict[str, Page]) -> Iterator[str]:
    """Faults of one question in the book."""
    if missing := NEEDED - record.keys():
        yield f"fields missing: {sorted(missing)}"
        return
    if unknown := record.keys() - NEEDED - OPTIONAL:
        yield f"fields unknown: {sorted(unknown)}"
    if record["kind"] not in KINDS:
        yield f"kind unknown: {record['kind']}"
    if record["match"] not in {"any", "all"}:
        yield f"match unknown: {record['match']}"
    if (record["kind"] == "followup") != ("previous_question" in record):
        yield "a followup, and only a followup, has previous_question"
    if absent := [name for name in record["expected_files"] if name not in pages]:
        yield f"no such file: {absent}"
    elif record["expected_files"]:
        yield from _check_places(record, [pages[name] for name in record["expected_files"]])
    else:
        yield "no expected file"


def _check_places(record: Record, expected: list[Page]) -> Iterator[str]:
    name, facts, selection = record["expected_section"], record["key_facts"], record.get("selected_text")
    sections = [page.sections[name] for page in expected if name in page.sections]
    if not sections:
        yield f"no such section: {name}"
    if not 1 <= len(facts) <= 4:
        yield f"{len(facts)} key facts"
    if selection is not None and not any(selection in page.text for page in expected):
        yield "selected_text is no substring of an expected file"
    for fact in facts:
        if not any(plain(fact) in page.plain for page in expected):
            yield f"key fact not in an expected file: {fact}"
        elif len(expected) == 1 and sections and not any(plain(fact) in plain(text) for text in sections):
            yield f"key fact not in the section '{name}': {fact}"
        elif selection is not None and plain(fact) not in plain(selection):
            yield f"key fact not in the selection: {fact}"
    if record["match"] == "all":
        for file, page in zip(record["expected_files"], expected, strict=True):
            if not any(plain(fact) in page.plain for fact in facts):
                yield f"match is all, but no key fact stands in {file}"
    asked = words(record["question"])
    run = max(longest_shared_run(asked, sentence) for page in expected for sentence in page.sentences)
    if run >= COPIED_WORDS:
        yield f"copied from the book: {run} words in a row"


def check_inside(records: list[Record], pages: dict[str, Page]) -> Iterator[str]:
    """Faults of the questions that the books answer."""
    for record in records:
        for fault in check_record(record, pages):
            yield f"{record.get('id')}: {fault}"
    if len(records) < MIN_QUESTIONS:
        yield f"{len(records)} questions in the book, fewer than {MIN_QUESTIONS}"
    if missing := KINDS - {record.get("kind") for record in records}:
        yield f"no question of kind {sorted(missing)}"
    selections = sum("selected_text" in record for record in records)
    if selections < MIN_SELECTIONS:
        yield f"{selections} questions with selected_text, fewer than {MIN_SELECTIONS}"


def check_outside(records: list[Record], pages: dict[str, Page]) -> Iterator[str]:
    """Faults of the questions that the books do not answer."""
    counts = Counter(record.get("kind") for record in records)
    if counts != OUTSIDE:
        yield f"out of the book: {dict(counts)}, expected {OUTSIDE}"
    for record in records:
        near = record.get("kind") == "near"
        if record.keys() != {"id", "question", "kind"} | ({"absent"} if near else set()):
            yield f"{record.get('id')}: wrong fields {sorted(record)}"
        elif near and not 1 <= len(record["absent"]) <= 3:
            yield f"{record['id']}: {len(record['absent'])} absent terms"
        for term in record.get("absent", ()):
            if found := [name for name, page in pages.items() if plain(term) in page.plain]:
                yield f"{record['id']}: '{term}' stands in {found[0]}"


def read_records(path: Path) -> list[Record]:
    """One JSON object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def check(corpus: Path, questions: Path) -> tuple[list[str], Counter[str]]:
    """All faults, and the number of questions of each kind."""
    pages = read_books(corpus)
    inside = read_records(questions / "in_book.jsonl")
    outside = read_records(questions / "out_of_book.jsonl")
    faults = [*check_inside(inside, pages), *check_outside(outside, pages)]
    for name, count in Counter(str(record.get("id")) for record in (*inside, *outside)).items():
        if count > 1:
            faults.append(f"{name}: {count} questions have this id")
    kinds = Counter(str(record.get("kind")) for record in (*inside, *outside))
    kinds["selected_text"] = sum("selected_text" in record for record in inside)
    return faults, kinds


def main() -> int:
    """Prints faults or counts; 0 when there is no fault."""
    parser = argparse.ArgumentParser(description="Check the question files against the books.")
    parser.add_argument("--corpus", type=Path, default=HERE.parent, help="folder with the books")
    parser.add_argument("--questions", type=Path, default=HERE, help="folder with in_book.jsonl and out_of_book.jsonl")
    arguments = parser.parse_args()
    faults, kinds = check(arguments.corpus, arguments.questions)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
