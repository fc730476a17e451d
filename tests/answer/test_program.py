"""A program is read as its statements, in whatever language, with what its comments say of each."""

import pytest

from lutrin.answer.program import statements_of


def said(text: str, language: str) -> list[tuple[int, int, str, tuple[str, ...]]]:
    """First and last line, code and comments of each statement."""
    return [(one.first, one.last, one.code, tuple(one.comments)) for one in statements_of(text, language)]


def test_a_comment_at_the_end_of_a_line_speaks_of_it() -> None:
    """And one on a line of its own of the statement behind it."""
    text = "# Warm up.\nheat(90)  # degrees\nstir()\n"
    assert said(text, "python") == [(1, 2, "heat(90)", ("Warm up.", "degrees")), (3, 3, "stir()", ())]


def test_a_comment_before_an_empty_line_stands_alone() -> None:
    """It speaks of the whole program."""
    assert said("// Bakes bread.\n\nbake();\n", "javascript") == [
        (1, 1, "", ("Bakes bread.",)),
        (3, 3, "bake();", ()),
    ]


def test_a_statement_may_take_several_lines() -> None:
    """As long as its brackets are open, or its line ends with a backslash."""
    assert said("bake(\n  bread,  # rye\n  hot)\n", "python") == [(1, 3, "bake(", ("rye",))]
    assert said("ls \\\n  -l\npwd\n", "bash") == [(1, 2, "ls \\", ()), (3, 3, "pwd", ())]


def test_a_text_within_a_definition_speaks_of_it() -> None:
    """A docstring describes the definition's head, which precedes it."""
    assert said('def bake():\n    """Bake one loaf."""\n    heat()\n', "python") == [
        (1, 2, "def bake():", ("Bake one loaf.",)),
        (3, 3, "heat()", ()),
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("cpp", "/* Stop. */\nhalt();\n"), ("sql", "-- Stop.\nHALT;\n"), ("xml", "<!-- Stop. -->\n<halt/>\n"),
        ("matlab", "% Stop.\nhalt()\n"), ("yaml", "# Stop.\nhalt: true\n"), ("lua", "-- Stop.\nhalt()\n"),
    ],
)  # fmt: skip
def test_marks_of_comments_are_no_words(language: str, text: str) -> None:
    """In any language."""
    assert [comments for *_, comments in said(text, language)] == [("Stop.",)]


def test_a_sign_in_a_string_begins_no_comment() -> None:
    """`#red` is a colour."""
    assert said('paint("#red")\n', "python") == [(1, 1, 'paint("#red")', ())]


def test_names_are_told_apart_by_who_gives_them() -> None:
    """The program gives those of its functions and variables, others those that it calls and imports."""
    text = 'def tick():\n    node = arm.connect("/grip")\n    node.open_hand()\n'
    names = {name.text: (name.is_called, name.is_own) for one in statements_of(text, "python") for name in one.names}
    assert names == {
        "tick": (True, True), "node": (False, True), "arm.connect": (True, False), "connect": (True, False),
        "/grip": (False, False), "node.open_hand": (True, False), "open_hand": (True, False),
    }  # fmt: skip


def test_what_no_lexer_knows_is_read_line_by_line() -> None:
    """Its marks of comments are not known either."""
    assert [code for *_, code, _ in said("one two\nthree\n", "nothing-like-it")] == ["one two", "three"]
