"""Full-text search in two tokenisations, ranked by BM25: from SQLite's FTS5, or from an index that takes terms.

Prose is stemmed (porter), so that "sensors" finds "sensor". Stemming destroys identifiers such as `/cmd_vel`,
`rclcpp::Node` and `ros2 topic echo`. Rules extract them from the text, whole and in parts, and write them as words into
a second index. Both indexes are contentless: the text itself is in the table `chunk`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

from lutrin.index import statements
from lutrin.records import Chunk
from lutrin.sqlite import Connection

MAKE_INDEXES = (
    """CREATE VIRTUAL TABLE prose USING fts5(
    title, heading, body, content='', tokenize='porter unicode61 remove_diacritics 2')""",
    """CREATE VIRTUAL TABLE identifier USING fts5(
    heading, body, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_:/.+-~<>@#$='")""",
)
"""The two indexes, created after the tables of `statements.MAKE_PASSAGES`."""
TITLE_WEIGHT, HEADING_WEIGHT, BODY_WEIGHT = 2.0, 3.0, 1.0
COLUMNS = {"prose": (TITLE_WEIGHT, HEADING_WEIGHT, BODY_WEIGHT), "identifier": (HEADING_WEIGHT, BODY_WEIGHT)}
"""Column weights of each table."""
IDENTIFIER_WEIGHT = 1.0
"""Weight of a match of identifiers relative to a match of prose."""
MAX_TERMS = 64
"""Most terms of one question; a selection of 2,000 tokens has its rarest words among the first anyway."""

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
    """The words of a text, in lower case, in order."""
    return WORD.findall(text.lower())


def identifiers(text: str) -> Iterator[str]:
    """Yield tokens that look like names from code rather than words, in lower case: whole, then their parts.

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


_STEMMER = snowballstemmer.stemmer("porter")  # as FTS5 stems


@lru_cache(maxsize=65_536)
def stem_of(word: str) -> str:
    """The stem of a lower-case word, as in the table `prose`."""
    stem: str = _STEMMER.stemWord(word)
    return stem


def finish(connection: Connection, chunks: Iterable[Chunk]) -> None:
    """Merge the indexes into one segment each, and count the chunks of each word."""
    frequency: dict[str, int] = {}
    for chunk in chunks:
        for word in set(words(chunk.embedded_text())):
            frequency[word] = frequency.get(word, 0) + 1
    connection.executemany(
        statements.ADD_WORD, [{"word": word, "chunks": chunks} for word, chunks in frequency.items()]
    )
    for table in ("prose", "identifier"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - one of two literals


def question_terms(text: str) -> tuple[list[str], list[str]]:
    """The terms of a question for the tables `prose` and `identifier`, each once, at most MAX_TERMS of each."""
    terms = list(dict.fromkeys(words(text)))
    content = [word for word in terms if word not in STOP_WORDS] or terms
    named = list(dict.fromkeys([*identifiers(text), *bigrams(text)]))
    return content[:MAX_TERMS], named[:MAX_TERMS]


def term_scores(connection: Connection, table: str, term: str) -> list[tuple[int, float]]:
    """Row and BM25 of every chunk that has a term, in row order."""
    rows = connection.execute(
        f"SELECT rowid, -rank FROM {table} WHERE {table} MATCH ? AND rank MATCH ?",  # noqa: S608 - table is ours
        (quote(term), ranking(table)),
    )
    return [(int(row), float(score)) for row, score in rows]


def chunks_with(connection: Connection, table: str, term: str, most: int) -> int:
    """Number of chunks with a term, counted up to `most`; much quicker than scoring them."""
    query = f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?"  # noqa: S608 - table is ours
    return len(connection.execute(query, (quote(term), most)).fetchall())


def ranking(table: str) -> str:
    """FTS5's function that scores matches in a table."""
    return f"bm25({', '.join(map(str, COLUMNS[table]))})"


def quote(term: str) -> str:
    """Quote a term so that FTS5 takes it literally."""
    return '"' + term.replace('"', '""') + '"'


FILTERS = ("chapter", "module", "filename", "section", "content_type", "role", "variant")


def chunk_filter(where: Mapping[str, str] | None) -> tuple[str, tuple[str, ...]]:
    """SQL that keeps chunks whose columns have the given values, and the values to bind.

    Raises:
        ValueError: A name is not one of `FILTERS`.
    """
    filters = dict(where or {})
    unknown = sorted(set(filters) - set(FILTERS))
    if unknown:
        raise ValueError(f"chunks cannot be filtered by {', '.join(unknown)}")
    return "".join(f" AND chunk.{name} = ?" for name in filters), tuple(filters.values())


def document_frequency(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """Number of chunks that contain each lower-case word; 0 for words that the book lacks."""
    frequencies = {}
    for term in dict.fromkeys(terms):
        row = connection.execute(statements.WORD, {"word": term}).fetchone()
        frequencies[term] = int(row[0]) if row else 0
    return frequencies


def words_from(connection: Connection, start: str) -> list[tuple[str, int]]:
    """The words with a given beginning, in lower case, each with its number of chunks."""
    rows = connection.execute(statements.WORDS_BETWEEN, {"start": start, "stop": start + chr(0x10FFFF)})
    return [(str(word), int(chunks)) for word, chunks in rows]


def all_words(connection: Connection) -> dict[str, int]:
    """Every word of a book, in lower case, with its number of chunks."""
    return {str(word): int(chunks) for word, chunks in connection.execute(statements.WORDS)}
