"""Words, numbers, identifiers and names, as search and grounding compare them."""

from lutrin.language import words


def test_a_stem_joins_the_forms_of_a_word() -> None:
    """`Sensors` and `sensor` are one word."""
    assert words.stem("Sensors") == words.stem("sensor")


def test_content_leaves_out_function_words() -> None:
    """The remaining words are the subject of a text."""
    assert words.content_stems("What is the torque of the hip?") == ("torqu", "hip")


def test_numbers_are_read_in_one_notation() -> None:
    """Thousands separators and plus signs make no difference."""
    for text, found in (
        ("It costs 1,249 USD.", ["1249"]),
        ("From -20 to +60 degrees.", ["-20", "60"]),
        ("A rate of 3.5e3 Hz", ["3.5e3"]),
        ("The D435i has no number of its own.", []),
    ):
        assert words.numbers(text) == found


def test_identifiers_are_kept_whole() -> None:
    """A name from code is one thing."""
    for name in (
        "/cmd_vel",
        "rclcpp::Node",
        "use_sim_time",
        "D435i",
        "--ros-args",
        "sensor_msgs/msg/Imu",
        "node.spin()",
    ):
        assert name in words.identifiers(f"Here {name} stands in a sentence.")


def test_prose_holds_no_identifiers() -> None:
    """Plain words and numbers are no names from code."""
    assert words.identifiers("The robot walks 3 metres, then it stops.") == []


def test_the_first_word_of_a_sentence_is_no_name() -> None:
    """Capitals at the start say nothing; capitals inside do."""
    assert words.names("Robots like Kestrel use ROS.") == ["Kestrel", "ROS"]


def test_denials_are_seen() -> None:
    """Negation has many forms."""
    for text in ("It does not move.", "It can't move.", "It never moves.", "It moves without power."):
        assert words.is_negated(text)


def test_code_is_not_counted_as_words() -> None:
    """The length of an answer is that of its prose."""
    assert words.word_count("Run this:\n\n```bash\nros2 topic list --verbose\n```\nDone.") == 3


def test_a_topic_may_be_what_a_book_is_about() -> None:
    """In robotics it carries messages; "this topic" is only what is spoken of."""
    assert words.topic_stems("Compare a topic with a service") == {"topic", "servic"}
    assert not words.topic_stems("Tell me more about this topic")


def test_a_subject_is_what_is_not_said_of_anything_whatever() -> None:
    """Everyday words, numbers and single letters name nothing, in any of their forms."""
    assert words.subject_words("How long does the longest flight of drone 7 take?") == ["flight", "drone"]
    assert words.subject_words("Why is it better then?") == []
    assert words.subject_stems("What do CD4 cells do?") == {"cd4", "cell"}
