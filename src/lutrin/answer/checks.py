"""What can be said of a question before the book is opened: empty, too long, foreign, vague."""

import re
from dataclasses import dataclass

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.records import Refusal
from lutrin.retrieve.language import LanguageCheck
from lutrin.retrieve.words import topic_stems

MAX_WORDS = 500
_A_THING = re.compile(
    r"\b(?:what|define)(?:'s| is| are| does)? an? "
    r"(?!(?:good|better|simple|other|short)?\s*(?:example|idea|point|difference))[a-z]{3,}",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:(?:hi|hiya|hello|hey|greetings|good (?:morning|day|afternoon|evening|night)|(?:good)?bye|see you|cheers"
    r"|thanks?|thank you|thx|(?:very|so) much|a lot|ok|okay|great|cool|nice|please|pls|there|everyone)\b\W*)+",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question that may go on, or the reason why not."""

    text: str
    """One line, without control and zero-width characters, at most 500 words."""
    warnings: tuple[str, ...] = ()
    refusal: Refusal | None = None


def check_question(text: str, language: LanguageCheck) -> CheckedQuestion:
    """Clean a question and judge what needs no book.

    Args:
        text: As the reader typed it.
        language: Knows the accepted languages.

    Raises:
        InvalidQuestion: There is nothing in it.
    """
    found = _UNSEEN.sub("", text).split()
    if not any(any(character.isalnum() for character in word) for word in found):
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    warnings = (messages.QUESTION_TRUNCATED,) if len(found) > MAX_WORDS else ()
    cleaned = " ".join(found[:MAX_WORDS])
    refusal: Refusal | None = None
    if not language.accepts(cleaned):
        refusal = "not_english"
    elif is_vague(cleaned):
        refusal = "vague"
    return CheckedQuestion(text=cleaned, warnings=warnings, refusal=refusal)


def is_vague(text: str) -> bool:
    """Whether a question names no subject of its own: "Tell me more", "Why is that?".

    "What is a topic?" has one, though any question may hold the word: the article makes it a thing of the book.
    """
    return is_courtesy(text) or (not topic_stems(text) and not _A_THING.search(text))


def is_courtesy(text: str) -> bool:
    """Whether a text greets or thanks and asks for nothing, whatever was asked before: "Hello!", "Ok, thank you."."""
    return _COURTESY.fullmatch(text.strip()) is not None
