"""Refusals: the exact words depend on why, and on which family of endpoints asks."""

from lutrin import messages
from lutrin.records import Question, Refusal


def refusal_text(refusal: Refusal, question: Question, title: str) -> str:
    """What the reader is told.

    Args:
        refusal: Why there is no answer.
        question: Its surface chooses among the contract's wordings.
        title: Of the book.
    """
    match refusal:
        case "empty":
            return messages.EMPTY_QUESTION
        case "not_english":
            return messages.NOT_ENGLISH
        case "vague":
            return messages.NEEDS_CONTEXT
        case "not_in_selection":
            return messages.NOT_IN_SELECTION
    if question.surface == "chat":
        return messages.NOT_FOUND_CHAT
    if question.surface == "query":
        return messages.NOT_COVERED.format(title=title)
    return messages.OUT_OF_SCOPE_TUTOR.format(title=title) if refusal == "out_of_scope" else messages.NOT_IN_BOOK
