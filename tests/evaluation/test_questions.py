"""Question files are checked before anything is asked."""

from pathlib import Path

import pytest

from evaluation.questions import half_of, read_questions, select
from lutrin.errors import InvalidInput

ASKED = '{"id": "a", "question": "Q?", "kind": "number", "expected_files": ["b/c.md"], "key_facts": ["40"]}'
OUTSIDE = '{"id": "b", "question": "Weather?", "kind": "far", "note": "not read"}'


def written(folder: Path, *lines: str) -> Path:
    """A question file of these lines."""
    path = folder / "questions.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_questions_are_read_in_order(tmp_path: Path) -> None:
    """Blank lines are skipped, what is not given is empty, and the kind says whether the book answers."""
    first, second = read_questions([written(tmp_path, ASKED, "", OUTSIDE)])
    assert (first.id, first.key_facts, first.match, first.in_book) == ("a", ("40",), "any", True)
    assert (second.id, second.expected_files, second.in_book) == ("b", (), False)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "truncated"),
        ('{"id": "x", "question": "Q?"}', "kind"),
        ('{"id": 7, "question": "Q?", "kind": "far"}', r"\$\.id"),
        ('{"id": "x", "question": "Q?", "kind": "far", "match": "some"}', r"\$\.match"),
        ('{"id": "x", "question": " ", "kind": "far"}', "may not be empty"),
        ('{"id": "x", "question": "Q?", "kind": "why"}', "needs expected_files"),
        ('{"id": "x", "question": "Q?", "kind": "why", "expected_files": ["a"], "key_facts": [" "]}', "key fact"),
        (ASKED, "stands already at .*questions.jsonl:1"),
        ('{"id": "\\ud800"', ""),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    """The message names the file, the line and what is wrong."""
    path = written(tmp_path, ASKED, line)
    with pytest.raises(InvalidInput, match=rf"questions\.jsonl:2: .*{said}"):
        read_questions([path])


def test_nothing_to_ask_is_said(tmp_path: Path) -> None:
    """An empty file and a missing one are named."""
    with pytest.raises(InvalidInput, match=r"questions\.jsonl: there is no question"):
        read_questions([written(tmp_path, "")])
    with pytest.raises(InvalidInput, match=r"away\.jsonl: No such file"):
        read_questions([tmp_path / "away.jsonl"])


def test_halves_are_for_good() -> None:
    """The half depends on the id alone: SHA-256 of `c01-02` begins with 0x7e, of `c01-03` with 0x23."""
    assert [half_of("c01-02"), half_of("c01-03")] == ["tune", "test"]


def test_each_question_is_in_one_half(tmp_path: Path) -> None:
    """Both halves together are all questions, and neither is a small part of many."""
    lines = [OUTSIDE.replace('"b"', f'"q{number}"') for number in range(200)]
    questions = read_questions([written(tmp_path, *lines)])
    tune, test = select(questions, "tune"), select(questions, "test")
    assert sorted(item.id for item in [*tune, *test]) == sorted(item.id for item in questions)
    assert not {item.id for item in tune} & {item.id for item in test}
    assert select(questions, "all") == questions
    assert 80 <= len(tune) <= 120
