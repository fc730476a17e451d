"""Read public test collections in the format of SMART and Cranfield, and score rankings on them.

Documents and queries are runs of `.I NUMBER` with fields `.T` (title), `.A`, `.B`, `.W` (text); judgements are lines
of query, document and a code. Cranfield's judgements count its queries from 1 in the order of the file, not by their
`.I`, and use -1 and 5 for "of no interest"; all other codes count as relevant.
"""

import math
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lutrin.errors import InvalidInput
from lutrin.records import Question

IRRELEVANT = frozenset({-1, 0, 5})
SEARCHED = 50
"""Chunks to ask for, so that they come from at least ten documents."""


@dataclass(frozen=True)
class Collection:
    """Documents, queries, and which documents answer which query."""

    documents: Mapping[int, tuple[str, str]]
    """Title and text by number."""
    queries: Mapping[int, str]
    relevant: Mapping[int, frozenset[int]]
    """Only queries that have a relevant document."""


def parse_fields(text: str) -> list[tuple[int, dict[str, str]]]:
    """Records of a file in the classic form: the number after `.I`, and the text of each field by its letter."""
    records: list[tuple[int, dict[str, list[str]]]] = []
    field = ""
    for line in text.splitlines():
        if line.startswith(".I"):
            records.append((int(line[2:].split()[0]), {}))
            field = ""
        elif len(line.rstrip()) == 2 and line[0] == "." and line[1].isupper() and records:
            field = line[1]
            records[-1][1].setdefault(field, [])
        elif field:
            records[-1][1][field].append(line.strip())
    return [(number, {name: " ".join(lines).strip() for name, lines in fields.items()}) for number, fields in records]


def parse_judgements(text: str) -> dict[int, frozenset[int]]:
    """Relevant documents by query, from lines of query, document, code."""
    found: dict[int, set[int]] = {}
    for line in text.splitlines():
        numbers = [int(part) for part in line.split()]
        if len(numbers) >= 3 and numbers[2] not in IRRELEVANT:
            found.setdefault(numbers[0], set()).add(numbers[1])
    return {query: frozenset(documents) for query, documents in found.items()}


def read_collection(folder: Path) -> Collection:
    """Read `cran.all.1400` (or another `*.all*`), `*.qry` and `*qrel*` of a folder.

    Raises:
        InvalidInput: One of the files is missing.
    """
    documents = dict(parse_fields(_only(folder, "*.all*")))
    queries = [fields.get("W", "") for _, fields in parse_fields(_only(folder, "*.qry"))]
    relevant = parse_judgements(_only(folder, "*qrel*"))
    return Collection(
        documents={number: (fields.get("T", ""), fields.get("W", "")) for number, fields in documents.items()},
        queries=dict(enumerate(queries, start=1)),
        relevant={number: found for number, found in relevant.items() if number <= len(queries)},
    )


def write_corpus(collection: Collection, folder: Path) -> Path:
    """Write each document as a Markdown page of a book that Lutrin can ingest."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "book.toml").write_text('slug = "collection"\ntitle = "Collection"\n', encoding="utf-8")
    for number, (title, text) in collection.documents.items():
        if title or text:
            page = f"# {_quiet(title) or number}\n\n{_quiet(text.removeprefix(title).strip())}\n"
            (folder / f"{number}.md").write_text(page, encoding="utf-8")
    return folder


async def judge(
    collection: Collection, search: Callable[[Question, int], Awaitable[Sequence[str]]], filename: Mapping[str, str]
) -> float:
    """Compute the mean nDCG@10 of a search over all queries with a relevant document.

    Args:
        collection: The queries and judgements.
        search: Function from a question and a number to chunk ids, best first.
        filename: File of each chunk by its id.
    """
    gains = []
    for number, relevant in collection.relevant.items():
        ids = await search(Question(text=collection.queries[number]), SEARCHED)
        ranked = list(dict.fromkeys(int(filename[name].removesuffix(".md")) for name in ids))
        gains.append(ndcg(ranked, relevant, 10))
    return sum(gains) / len(gains)


def ndcg(ranked: Sequence[int], relevant: frozenset[int], k: int) -> float:
    """Normalised discounted cumulative gain of a ranking, each relevant document worth one (Jarvelin, Kekalainen 2002).

    Args:
        ranked: Documents, best first, each once.
        relevant: At least one.
        k: How many of the ranking count.
    """
    gain = sum(1 / math.log2(rank + 1) for rank, name in enumerate(ranked[:k], start=1) if name in relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))


def _quiet(text: str) -> str:
    """Escape a text so that nothing in it is markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|~$" else letter for letter in text)


def _only(folder: Path, pattern: str) -> str:
    paths = sorted(path for path in folder.glob(pattern) if "readme" not in path.name.lower())
    if not paths:
        raise InvalidInput(f"{folder} has no file {pattern}.")
    return paths[0].read_text(encoding="utf-8", errors="replace")
