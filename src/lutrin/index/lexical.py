"""Full-text search by SQLite's FTS5, in two tokenisations, ranked by BM25.

Prose is stemmed (porter), so that "sensors" finds "sensor". Identifiers are what stemming destroys: `/cmd_vel`,
`rclcpp::Node`, `ros2 topic echo`. They are cut out of the text by rule, kept whole and in parts, and written as words
of a second index. Both are contentless: the text itself stands in the table `chunk`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from lutrin.records import Chunk
from lutrin.sqlite import Connection

SCHEMA = """
CREATE VIRTUAL TABLE prose USING fts5(
    title, heading, body, content='', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE identifier USING fts5(
    heading, body, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_:/.+-~<>@#$='");
CREATE TABLE word (word TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID;
"""
TITLE_WEIGHT, HEADING_WEIGHT, BODY_WEIGHT = 2.0, 3.0, 1.0
IDENTIFIER_WEIGHT = 1.0
"""What a match of identifiers adds to a match of prose."""
MAX_TERMS = 64
"""Of one question; a selection of 2,000 tokens has its rarest words anyway among the first."""
MAX_CANDIDATES = 20_000
"""Passages that are ranked by prose, about; the rarest words of a question choose them."""
LEAST_TERMS = 2

WORD = re.compile(r"\w+")
IDENTIFIER = re.compile(r"[/~@#$]?\w+(?:(?:::|->|[/_.:+\-=])\w+)*/?")
CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
MARKS = re.compile(r"[_:/.+~<>@#$=]|->|\d|[a-z][A-Z]")
STOP_WORDS = frozenset(
    """a about an and are as at be been but by can could did do does for from had has have how i if in into is it its me
    my no not of on or our should so than that the their them then there these they this those to us was we were what
    when where which who whom whose why will with would you your""".split()
)


def words(text: str) -> list[str]:
    """The words of a text, lower case, in order."""
    return WORD.findall(text.lower())


def identifiers(text: str) -> Iterator[str]:
    """What in a text looks like a name of code rather than a word, lower case: whole, then its parts.

    >>> list(identifiers("Publish to /cmd_vel with rclcpp::Node."))
    ['/cmd_vel', 'cmd_vel', 'cmd', 'vel', 'rclcpp::node', 'rclcpp', 'node']
    """
    for match in IDENTIFIER.finditer(text):
        name = match.group()
        if not MARKS.search(name):
            continue
        pieces = WORD.findall(name)
        chips = [part for piece in pieces for chip in piece.split("_") for part in CAMEL.findall(chip)]
        parts = [part for part in map(str.lower, (*pieces, *chips)) if len(part) > 1 and part not in STOP_WORDS]
        yield from dict.fromkeys([name.lower(), name.lower().strip("/~@#$"), *parts])


def bigrams(text: str) -> Iterator[str]:
    """Neighbouring words of each line, joined: `ros2 topic echo` gives `ros2+topic` and `topic+echo`."""
    for line in text.splitlines():
        yield from (f"{left}+{right}" for left, right in pairwise(words(line)))


def index_chunk(connection: Connection, row: int, title: str, chunk: Chunk) -> None:
    """Add one chunk to both indexes under its row number."""
    heading = " ".join((chunk.chapter, *chunk.heading_path[1:]))
    connection.execute(
        "INSERT INTO prose (rowid, title, heading, body) VALUES (?, ?, ?, ?)", (row, title, heading, chunk.text)
    )
    code = "\n".join(unit.text for unit in chunk.units if unit.kind == "code")
    names = [*identifiers(chunk.text), *bigrams(code)]
    connection.execute(
        "INSERT INTO identifier (rowid, heading, body) VALUES (?, ?, ?)",
        (row, " ".join(identifiers(heading)), " ".join(names)),
    )


def finish(connection: Connection, chunks: Iterable[Chunk]) -> None:
    """Merge the indexes into one segment each, and count in how many chunks each word stands."""
    frequency: dict[str, int] = {}
    for chunk in chunks:
        for word in set(words(chunk.embedded_text())):
            frequency[word] = frequency.get(word, 0) + 1
    connection.executemany("INSERT INTO word (word, chunks) VALUES (?, ?)", frequency.items())
    for table in ("prose", "identifier"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - one of two literals


def match(connection: Connection, text: str, k: int, where: Mapping[str, str] | None = None) -> list[tuple[str, float]]:
    """The `k` chunks that match a question's words best.

    Args:
        connection: Of a generation's `passages.db`.
        text: The question, or anything else; any words of it may match.
        k: How many at most.
        where: Only chunks whose columns have these values; see `chunk_filter`.

    Returns:
        Pairs of chunk id and BM25, larger is better, best first.
    """
    spoken = words(text)
    content = [word for word in dict.fromkeys(spoken) if word not in STOP_WORDS] or list(dict.fromkeys(spoken))
    content = _telling(connection, content)
    named = list(dict.fromkeys([*identifiers(text), *bigrams(text)]))
    clause, values = chunk_filter(where)
    scores: dict[str, float] = {}
    weighed = (
        ("prose", content, (TITLE_WEIGHT, HEADING_WEIGHT, BODY_WEIGHT), 1.0),
        ("identifier", named, (HEADING_WEIGHT, BODY_WEIGHT), IDENTIFIER_WEIGHT),
    )
    for table, terms, columns, weight in weighed:
        if terms:
            query = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms[:MAX_TERMS])
            # FTS5's bm25() is smaller for better matches. Twice `k`, for the sum of both may order them anew.
            rows = connection.execute(
                f"SELECT chunk.chunk_id, -bm25({table}, {', '.join(map(str, columns))}) AS score FROM {table}"  # noqa: S608 - literals above, values bound
                f" JOIN chunk ON chunk.row = {table}.rowid WHERE {table} MATCH ? {clause}"
                " ORDER BY score DESC, chunk.row LIMIT ?",
                (query, *values, 2 * k),
            )
            for chunk_id, score in rows:
                scores[chunk_id] = scores.get(chunk_id, 0.0) + weight * score
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


def _telling(connection: Connection, terms: list[str]) -> list[str]:
    """The words to search for; in a large book the commonest would have every second passage ranked for nothing."""
    frequency = document_frequency(connection, terms)
    kept: set[str] = set()
    candidates = 0
    for term in sorted(terms, key=lambda word: frequency[word]):
        candidates += frequency[term]
        if len(kept) >= LEAST_TERMS and candidates > MAX_CANDIDATES:
            break
        kept.add(term)
    return [term for term in terms if term in kept]


FILTERS = ("chapter", "module", "filename", "section", "content_type")


def chunk_filter(where: Mapping[str, str] | None) -> tuple[str, tuple[str, ...]]:
    """SQL that keeps chunks whose columns have the given values, and the values to bind.

    Raises:
        ValueError: A name is not one of `FILTERS`.
    """
    wanted = dict(where or {})
    unknown = sorted(set(wanted) - set(FILTERS))
    if unknown:
        raise ValueError(f"chunks cannot be filtered by {', '.join(unknown)}")
    return "".join(f" AND chunk.{name} = ?" for name in wanted), tuple(wanted.values())


def document_frequency(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """In how many chunks each lower-case word stands; 0 for those that the book does not have."""
    found = {}
    for term in dict.fromkeys(terms):
        row = connection.execute("SELECT chunks FROM word WHERE word = ?", (term,)).fetchone()
        found[term] = int(row[0]) if row else 0
    return found
