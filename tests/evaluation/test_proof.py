"""Whether the book proves a sentence."""

import pytest

from evaluation.proof import (
    coverage,
    foreign_markup,
    is_notice,
    is_verbatim,
    is_verified,
    literals,
    missing_literals,
    unproven,
)
from lutrin import messages

PASSAGE = (
    "Arm\nThe elbow joint of Kestrel turns 140 degrees and never overheats. Start it with `ros2 run arm elbow_node`."
)


def test_literals_are_numbers_names_and_commands() -> None:
    """An ordinary first word is no name, though it begins with a capital."""
    for sentence, expected in (
        ("The elbow of Kestrel turns 140 degrees.", ["140", "Kestrel"]),
        ("Kestrel turns.", []),
        ("YOLOv8 runs on the IMU.", ["YOLOv8", "IMU"]),
        ("Run `ros2 run arm elbow_node`.", ["ros2 run arm elbow_node"]),
        ("Publish to /cmd_vel with rclcpp::Node and --ros-args.", ["/cmd_vel", "rclcpp::Node", "--ros-args"]),
        ("In short: Every joint turns.", []),
    ):
        assert [item for item in expected if item not in literals(sentence)] == []
        assert not expected or len(literals(sentence)) >= len(expected)
        assert expected or literals(sentence) == []


def test_missing_literals_are_named() -> None:
    """The passage that holds most of them counts; without a passage all are missing."""
    assert missing_literals("It turns 150 degrees on Kestrel.", ["Legs", PASSAGE]) == ["150"]
    assert missing_literals("It turns 140 degrees on Kestrel.", ["Legs", PASSAGE]) == []
    assert missing_literals("It turns 140 degrees.", []) == ["140"]


def test_word_for_word_means_markup_aside() -> None:
    """Emphasis, code marks and the final stop do not matter; another word does."""
    assert is_verbatim("The **elbow** joint of Kestrel turns 140 degrees", [PASSAGE])
    assert is_verbatim("ros2 run arm elbow_node", [PASSAGE])
    assert not is_verbatim("The elbow joint turns 140 degrees", [PASSAGE])
    assert not is_verbatim("!", [PASSAGE])


def test_coverage_is_the_share_of_content_words() -> None:
    """Elbow, turns and heats are content words; two of the three are in the passage."""
    assert coverage("The elbow turns and heats", PASSAGE) == pytest.approx(2 / 3)
    assert coverage("and the", PASSAGE) == 1.0


def test_verified_means_literals_words_and_denial() -> None:
    """A changed number, a foreign name, a lost denial or other words are not proven."""
    for sentence, expected in (
        ("Kestrel's elbow joint turns 140 degrees.", True),
        ("Kestrel's elbow joint turns 150 degrees.", False),
        ("The elbow joint never overheats.", True),
        ("The elbow joint overheats.", False),
        ("The elbow joint of Atlas never overheats.", False),
        ("Never leave pupils with batteries alone.", False),
    ):
        assert is_verified(sentence, [PASSAGE]) is expected


def test_words_must_stand_close_together() -> None:
    """A sentence made of words from all over the passage is not what the passage says."""
    frames = (
        "Frames\nmap is fixed to the building. It may jump. odom never jumps. It drifts. A robot needs both. Use the "
    )
    frames += "first where a path must be accurate in the long run. Use the other where motion must be smooth."
    assert not is_verified(
        "The frame that is smooth is map, and the frame that is accurate in the long run is odom", [frames]
    )
    assert is_verified(
        "Use one where a path is accurate in the long run, while motion must be smooth with the other", [frames]
    )


def test_two_facts_may_stand_apart_in_one_sentence() -> None:
    """Each clause is looked for by itself if the whole is not found in one place."""
    far = "The elbow turns 140 degrees. One. Two. Three. Four. The knee gives 68 N·m."
    assert is_verified("The elbow turns 140 degrees, and the knee gives 68 N·m.", [far])
    assert not is_verified("The elbow gives 140 degrees of heat, and the knee turns 68 times.", [far])


def test_an_answer_is_proven_sentence_by_sentence() -> None:
    """Each is judged by what it cites; two sources may prove one sentence together."""
    cited = {1: [PASSAGE], 2: ["Leg\nThe knee gives 68 N·m."]}
    text = "The knee gives 68 N·m. [1] The knee gives 68 N·m, the elbow turns 140 degrees and never overheats. [1][2]"
    assert unproven(text, cited, [PASSAGE]) != []
    assert [item.text for item in unproven(text, cited, [PASSAGE])] == ["The knee gives 68 N·m."]
    assert unproven(text, cited, [PASSAGE, cited[2][0]]) == []


def test_fixed_texts_need_no_proof() -> None:
    """Lutrin's own texts are recognised by their form, with any values filled in."""
    mixed = messages.SIMULATION_MIXED.format(simulated="A, B", real="C").split(". ")
    assert is_notice(mixed[0] + ".")
    assert all(is_notice(f"{one.rstrip(chr(46))}.") for one in messages.MODEL_AWAY.split(". "))
    assert not is_notice("The elbow turns.")
    assert unproven(messages.MODEL_AWAY, {}, []) == []


def test_foreign_links_and_tags_are_found() -> None:
    """A link that the book itself has is the book's."""
    text = "See http://evil.example/x and ![a](b) <script>alert(1)</script>"
    found = foreign_markup(text, ["The book says ![a](b)."])
    assert found == ["http://evil.example/x", "<script>", "</script>"]
