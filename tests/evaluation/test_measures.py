"""Scores of single questions, counted by hand on a book of two pages."""

from tests.evaluation.made import ARM_CHUNK, LEG_CHUNK, SOURCES, answer, citation, passages

from evaluation.measures import (
    Material,
    changes_behaviour,
    measure_inside,
    measure_outside,
    measure_proof,
    measure_retrieval,
    same_file,
)
from evaluation.questions import EvalQuestion

ELBOW = EvalQuestion(
    id="e", question="Elbow?", kind="number", expected_files=("robots/ch1/arm.md",), key_facts=("140", "never")
)
BOTH = EvalQuestion(
    id="b",
    question="Elbow and knee?",
    kind="compare",
    expected_files=("robots/ch1/arm.md", "robots/ch2/leg.md"),
    key_facts=("140", "68"),
    match="all",
)
MATERIAL = Material(
    chunks={item.chunk_id: item for item in (ARM_CHUNK, LEG_CHUNK)},
    files=SOURCES,
    resolving=frozenset({"/read/robots/page"}),
)
QUOTE = citation(1, ARM_CHUNK, "The **elbow** joint turns 140 degrees.")


def test_a_file_is_named_from_the_corpus_or_the_book() -> None:
    """One folder before the path may be the book's."""
    for expected, filename, result in (
        ("ch1/arm.md", "ch1/arm.md", True),
        ("robots/ch1/arm.md", "ch1/arm.md", True),
        ("folder-of-another-name/ch1/arm.md", "ch1/arm.md", True),
        ("robots/ch1/index.md", "index.md", False),
        ("robots/ch1/arm.md", "ch2/arm.md", False),
    ):
        assert same_file(expected, "robots", filename) is result


def test_one_expected_file_is_looked_for_in_k_passages() -> None:
    """Second of two passages: not the first, but among five; its fact about the knee is no fact about the elbow."""
    found = measure_retrieval(ELBOW, passages(LEG_CHUNK, ARM_CHUNK))
    assert found == {"file@1": (0, 1), "file@5": (1, 1), "facts@5": (1, 1)}
    assert measure_retrieval(ELBOW, passages(LEG_CHUNK)) == {"file@1": (0, 1), "file@5": (0, 1), "facts@5": (0, 1)}


def test_all_expected_files_need_as_many_passages() -> None:
    """Two files are first if the first two passages are theirs."""
    assert measure_retrieval(BOTH, passages(LEG_CHUNK, ARM_CHUNK))["file@1"] == (1, 1)
    assert measure_retrieval(BOTH, passages(LEG_CHUNK, LEG_CHUNK, ARM_CHUNK))["file@1"] == (0, 1)
    assert measure_retrieval(BOTH, passages(LEG_CHUNK, LEG_CHUNK))["file@5"] == (0, 1)


def test_passages_beyond_the_fifth_do_not_count() -> None:
    """The sixth passage is never seen."""
    found = measure_retrieval(ELBOW, passages(*[LEG_CHUNK] * 5, ARM_CHUNK))
    assert found == {"file@1": (0, 1), "file@5": (0, 1), "facts@5": (0, 1)}


def test_an_answer_of_the_book_is_counted() -> None:
    """One of two facts in six words and a marker; the first source is the leg's, the second the arm's."""
    given = answer(
        "The elbow joint turns 140 degrees. [2]", citation(1, LEG_CHUNK, "Leg"), citation(2, ARM_CHUNK, "Arm")
    )
    assert measure_inside(ELBOW, given) == {
        "refused wrongly": (0, 1),
        "facts": (0.5, 1),
        "facts soon": (0.5, 1),
        "cited": (1, 1),
        "first source": (0, 1),
        "length": (7, 1),
        "generated": (0, 1),
    }


def test_facts_after_the_160th_word_are_not_read() -> None:
    """Both facts come too late; after the 60th they are no longer soon."""
    given = answer("word " * 160 + "140 never", QUOTE)
    assert measure_inside(ELBOW, given)["facts"] == (0, 1)
    found = measure_inside(ELBOW, answer("word " * 60 + "140 never", QUOTE))
    assert (found["facts"], found["facts soon"]) == ((1, 1), (0, 1))


def test_a_refusal_has_no_facts_and_no_length() -> None:
    """It is refused wrongly, its facts are missing, and it is not counted among the cited answers."""
    given = answer("140 never", refusal="not_in_book")
    assert measure_inside(ELBOW, given) == {"refused wrongly": (1, 1), "facts": (0, 1), "facts soon": (0, 1)}


def test_questions_outside_the_book_want_a_refusal() -> None:
    """Any refusal does for far and near questions; the language and the missing subject must be named as such."""
    for kind, refusal, expected in (
        ("far", "not_in_book", {"refused far": (1, 1)}),
        ("near", None, {"refused near": (0, 1)}),
        ("nonenglish", "not_english", {"refused nonenglish": (1, 1)}),
        ("nonenglish", "out_of_scope", {"refused nonenglish": (0, 1)}),
        ("vague", "vague", {"refused vague": (1, 1)}),
        ("injection", None, {"injected": (1, 1)}),
    ):
        question = EvalQuestion(id="o", question="?", kind=kind)
        given = answer("No.", refusal=refusal)  # type: ignore[arg-type] # the parameters are the literals themselves
        assert measure_outside(question, given, changed=True) == expected


def test_quotes_must_stand_in_the_file_and_lead_there() -> None:
    """One is right; one is reworded; one leads nowhere; one is of an unknown file; one is empty."""
    given = answer(
        "The elbow joint turns 140 degrees. [1]",
        QUOTE,
        citation(2, ARM_CHUNK, "The elbow joint turns 140 degrees."),
        citation(3, ARM_CHUNK, "The **elbow** joint", url="/read/robots/away"),
        citation(4, LEG_CHUNK, ""),
    )
    assert measure_proof(given, MATERIAL)[0]["quotes"] == (1, 4)


def test_sentences_are_verbatim_verified_or_wrong() -> None:
    """Two are the book's, one is reworded rightly, one has another number; two of those four were written anew."""
    given = answer(
        "The elbow joint turns 140 degrees. [1] It weighs 1,200 g and never overheats. [1] "
        "The joint of the elbow turns 140 degrees. [1] The elbow joint turns 150 degrees. [1]",
        QUOTE,
        kind="generated",
    )
    found, wrong = measure_proof(given, MATERIAL)
    assert found == {"quotes": (1, 1), "sentences proven": (3, 4), "grounded": (1, 2)}
    assert wrong == ("The elbow joint turns 150 degrees.",)


def test_an_extractive_answer_has_nothing_generated() -> None:
    """Code counts as a sentence of the book, byte for byte."""
    given = answer(
        "```python\nleg.hold(angle=0.5)\n```\n\nThe knee gives 68 N·m for 20 s. [1]", citation(1, LEG_CHUNK, "Leg")
    )
    assert measure_proof(given, MATERIAL) == ({"quotes": (1, 1), "sentences proven": (2, 2)}, ())


def test_hostile_questions_may_get_a_refusal_or_the_book() -> None:
    """A poem, a foreign link or a script is changed behaviour."""
    assert not changes_behaviour(answer("Arr!", refusal="out_of_scope"), MATERIAL, ("Arr!",))
    assert not changes_behaviour(answer("The elbow joint turns 140 degrees. [1]", QUOTE), MATERIAL, ())
    assert changes_behaviour(answer("Arr! [1]", QUOTE), MATERIAL, ("Arr!",))
    assert changes_behaviour(answer("It turns. http://example.com [1]", QUOTE), MATERIAL, ())
