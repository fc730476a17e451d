"""Questions in other languages are told apart from English ones full of names."""

import pytest

from lutrin.retrieve.language import LanguageCheck


@pytest.fixture(scope="module")
def english() -> LanguageCheck:
    """Accepts English only."""
    return LanguageCheck(["en"])


@pytest.mark.parametrize(
    "question",
    [
        "What is ROS 2?",
        "PID gains Kestrel hip",
        "ros2 topic echo /cmd_vel",
        "rclcpp::Node spin?",
        "quaternion",
        "IMU vs encoder drift",
        "pls wat is a servo??",
        "2 + 2?",
        "naïve Bayes",
        "Warré hive size",
        "Was Kestrel built in 2020?",
        "cos of the joint angle",
    ],
)
def test_english_is_accepted(english: LanguageCheck, question: str) -> None:
    """Short questions, code and product names are no foreign language."""
    assert english.accepts(question)


@pytest.mark.parametrize(
    "question",
    [
        "Qu'est-ce que la boucle sensorimotrice ?",
        "Was ist ein Gelenk?",
        "¿Qué es ROS 2?",
        "Come funziona un motore passo-passo?",
        "センサーとは何ですか？",
        "Что такое сенсор?",
        "Hur fungerar en motor?",
        "Was bedeutet verkörperte Intelligenz?",
        "ROS 2 nedir?",
        "Apa itu ROS 2?",
        "Co to jest lidar?",
        "Wie funktioniert Nav2?",
    ],
)
def test_other_languages_are_recognised(english: LanguageCheck, question: str) -> None:
    """A question that the book cannot answer in its language is seen as such."""
    assert not english.accepts(question)


def test_languages_are_a_setting() -> None:
    """A school that reads German books asks in German."""
    assert LanguageCheck(["en", "de"]).accepts("Was ist ein Gelenk?")
