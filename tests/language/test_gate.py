"""Questions in other languages are told from English ones, however messy."""

from pathlib import Path

from lutrin.language.gate import LanguageGate

FOREIGN = [line.split("\t") for line in Path(__file__).with_name("foreign.txt").read_text("utf-8").splitlines()]
ENGLISH = LanguageGate(["en"])


def test_english_is_accepted() -> None:
    """Short questions, slips, code, quotations and names are no foreign language; a doubt is the reader's."""
    for question in (
        "What is ROS 2?",
        "PID gains Kestrel hip",
        "ros2 topic echo /cmd_vel",
        "rclcpp::Node spin?",
        "quaternion",
        "pls wat is a servo??",
        "2 + 2?",
        "naïve Bayes",
        "Warré hive size",
        "Was Kestrel built in 2020?",
        "cos of the joint angle",
        "Explain quantisation simply.",
        "nil in Objective-C vs nil in Swift",
        "wat is servo",
        "shortcut so i can type git co",
        "Is a food calorie the same as a calorie?",
        "soufflé recipe",
        "π and Ω",
        "who said „je pense, donc je suis“",
        "What does `der die das` print?",
        "hola",
        "gradient descent momentum",
        "serve static files",
        "multi line comment",
        "Explain co-simulation",
        "on-off control",
        "main site map",
    ):
        assert ENGLISH.accepts(question)


def test_other_languages_are_recognised() -> None:
    """Nineteen of twenty questions in many languages are seen as such."""
    missed = [question for _, question in FOREIGN if ENGLISH.accepts(question)]
    assert len(missed) / len(FOREIGN) <= 0.05, missed
    assert len({code for code, _ in FOREIGN}) >= 12


def test_words_that_english_also_has_tell_by_their_number() -> None:
    """Without accents, or joined by a hyphen, as it is typed in a hurry."""
    for question in ("que es un robot", "Explique-moi le capteur", "o que e um robo", "que es robot"):
        assert not ENGLISH.accepts(question)


def test_a_question_without_blanks_is_no_name() -> None:
    """Japanese, Chinese and Thai set none between a term of the book and what is asked of it."""
    for question in ("ROS2とは何ですか", "IMU是什么意思", "Nav2คืออะไร"):
        assert not ENGLISH.accepts(question)
    assert ENGLISH.accepts("What is σ_max in rclcpp::spin_some?")


def test_languages_are_a_setting() -> None:
    """A school that reads German books asks in German; one that reads Russian ones in its script."""
    assert LanguageGate(["en", "de"]).accepts("Was ist ein Gelenk?")
    assert LanguageGate(["en", "ru"]).accepts("Что такое сенсор?")
    assert not LanguageGate(["en", "ru"]).accepts("什么是激光雷达？")
    assert not LanguageGate(["de"]).accepts("Comment fonctionne un lidar ?")
