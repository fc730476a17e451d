"""Verification, measured on labelled pairs that are made from the sample book."""

import pytest
from tests.answer.pairs import MUTATIONS, Pair, pairs
from tests.answer.paraphrases import RULES, paraphrases
from tests.answer.torn import RULES as TORN
from tests.answer.torn import torn

from lutrin.answer.ground import support


def verdicts(made: list[Pair]) -> list[tuple[Pair, bool]]:
    """Each pair with what verification says of it."""
    return [(pair, support(pair.sentence, [pair.passage]) is not None) for pair in made]


def test_there_are_200_pairs_of_every_kind() -> None:
    """Half of them true, a quarter for each mutation."""
    made = pairs()
    assert len(made) == 200
    assert sum(pair.true for pair in made) == 100
    assert {pair.kind for pair in made} == set(MUTATIONS)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_no_false_sentence_passes(seed: int) -> None:
    """Precision first: a wrong number, name, denial or side never leaves; 200 false sentences with each seed."""
    found = verdicts(pairs(seed, each=50))
    assert [pair.sentence for pair, passed in found if passed and not pair.true] == []


def test_every_sentence_of_the_book_passes() -> None:
    """What the book says word for word is supported."""
    assert [pair.sentence for pair, passed in verdicts(pairs()) if pair.true and not passed] == []


def test_most_true_sentences_in_other_words_pass() -> None:
    """Synonyms, passives, clauses in another place, remarks left out: a verifier that drops them all is of no use."""
    found = verdicts(paraphrases())
    assert {pair.kind for pair, _ in found} == set(RULES)
    assert sum(passed for _, passed in found) / len(found) >= 0.95


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_few_sentences_that_were_torn_out_pass(seed: int) -> None:
    """Every word of them is the passage's; what still passes is true by accident, or no sentence."""
    found = verdicts(torn(seed, each=50))
    assert {pair.kind for pair, _ in found} == set(TORN)
    assert sum(passed for _, passed in found) / len(found) <= 0.15


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("The rule of thumb is a service.", "The rule of thumb: a stream is a topic, a quick question is a service."),
        ("The gyroscope is good for long.", "The gyroscope is good for a moment, whereas the lidar is good for long."),
        ("The lab needs no working software.", "The lab uses category 0, because it needs no working software."),
        ("Wheels move the world about.", "Wheels move a robot about, whereas arms move the world about."),
        ("The wheel of the rover turns in sand.", "The wheel of the rover turns only in sand."),
        ("A joint of the arm is stiff.", "A joint of the arm is stiff if it has no play."),
        ("The work is a large card.", "Training wants a large card. This book divides the work among three."),
        ("Equipment is the minimum of a course.", "Equipment is listed here; a laptop is the minimum of a course."),
        ("Near objects have a small disparity.", "Near objects have a large disparity, and far objects a small one."),
        ("Far ones have a large one, near ones a small one.", "Far ones have a small one, near ones a large one."),
        ("A resistor turns the heat into heat.", "A resistor turns this surplus into heat, which is lost."),
        ("Kestrel uses twenty motors, which is 1.8°.", "Kestrel uses twenty motors. Others advance by 1.8°."),
        ("To make the dough rise, scale error is a wrong factor.", "Scale error is a wrong factor, for example 1.01."),
        ("There are two kinds of encoder: direct and indirect.", "Encoders turn. There are two kinds of encoder:"),
        ("There was one parameter server for all nodes.", "In ROS 1 there was one parameter server for all nodes."),
        ("Images block the channel with repetitions.", "Images can block the channel with repetitions."),
        (
            "Kinematics is the geometry of motion, asking which forces and torques cause the motion.",
            "Kinematics is the geometry of motion without it. Dynamics asks which forces and torques cause the motion.",
        ),
        (
            "Kinematics describes the geometry of motion, asking which forces and torques cause the motion.",
            "Dynamics asks which forces and torques cause the motion. We treat first kinematics, then dynamics.",
        ),
        ("Kestrel has five mechanical stops.", "Kestrel has five, from the inside out:\n1. Mechanical stops of steel."),
        ("The loop has stages: sense and planner.", "The loop has stages:\n1. Sense.\n2. Decide. A planner chooses."),
        ("The recording of the camera takes 5 minutes.", "5. Start the camera.\n6. How many minutes is the recording?"),
    ],
)  # fmt: skip
def test_what_is_said_of_one_thing_is_not_said_of_another(sentence: str, passage: str) -> None:
    """As a small model wrote it from passages like these."""
    lead = "" if ":\n" in passage else "\n"
    assert support(sentence, [f"Robots\n{lead}{passage}"]) is None
