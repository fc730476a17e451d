"""Public test collections are read as their authors wrote them, and rankings judged by the published formula."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation import collection
from lutrin.errors import InvalidInput
from lutrin.records import Question

DOCUMENTS = """.I 1
.T
wing flutter
.A
nobody
.B
.W
wing flutter
flutter of a wing at
1.5 times the speed .
.I 2
.T
heat <shield>
.W
.I 3
.W
"""
QUERIES = ".I 001\n.W\nwhat makes wings flutter\n.I 004\n.W\nhow hot does a shield get\n.I 009\n.W\nnothing known\n"
JUDGEMENTS = "1 1 2\n1 3 -1\n2 2 1\n2 1 5\n\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection of three documents, one of them empty, and three queries, one of them without an answer."""
    for name, text in (("cran.all.1400", DOCUMENTS), ("cran.qry", QUERIES), ("cranqrel", JUDGEMENTS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "cranqrel.readme").write_text("not this one", encoding="utf-8")
    return tmp_path


def test_queries_are_counted_in_the_order_of_the_file(folder: Path) -> None:
    """Judgements count queries from 1 and ignore the queries' own numbers; codes -1 and 5 are skipped."""
    found = collection.read_collection(folder)
    assert found.queries[2] == "how hot does a shield get"
    assert found.relevant == {1: frozenset({1}), 2: frozenset({2})}
    assert found.documents[1] == ("wing flutter", "wing flutter flutter of a wing at 1.5 times the speed .")


def test_documents_become_pages(folder: Path) -> None:
    """The title is a heading and is not repeated; nothing in a text is markup; an empty document is no page."""
    corpus = collection.write_corpus(collection.read_collection(folder), folder / "corpus")
    assert sorted(path.name for path in corpus.iterdir()) == ["1.md", "2.md", "book.toml"]
    assert (corpus / "1.md").read_text() == "# wing flutter\n\nflutter of a wing at 1.5 times the speed .\n"
    assert (corpus / "2.md").read_text().startswith(r"# heat \<shield\>")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The pattern says what is looked for."""
    with pytest.raises(InvalidInput, match=r"has no file \*\.all\*"):
        collection.read_collection(tmp_path)


def test_ndcg_is_that_of_the_paper() -> None:
    """Gains are discounted by log2(rank + 1) and divided by those of the best ranking; only three ranks count here."""
    for ranked, relevant, expected in (
        ([1, 2, 3], {1, 2}, 1.0),
        ([3, 1], {1}, 1 / math.log2(3)),
        ([1, 9, 2], {1, 2}, (1 + 0.5) / (1 + 1 / math.log2(3))),
        ([9, 9, 9, 1], {1}, 0.0),
        ([], {1}, 0.0),
    ):
        assert collection.ndcg(ranked, frozenset(relevant), 3) == pytest.approx(expected)


async def test_a_search_is_judged_by_documents_not_chunks(folder: Path) -> None:
    """Several chunks of one page count once: the first query finds its page second, the other finds it first."""

    async def search(question: Question, k: int) -> Sequence[str]:
        ids = ["c", "c2", "a"] if "flutter" in question.text else ["c"]
        return ids[:k]

    filename = {"a": "1.md", "c": "2.md", "c2": "2.md"}
    value = await collection.judge(collection.read_collection(folder), search, filename)
    assert value == pytest.approx((1 / math.log2(3) + 1) / 2)
