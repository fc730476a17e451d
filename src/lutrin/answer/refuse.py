"""Refusals: the exact words depend on why, and on which family of endpoints asks; and what may be asked instead."""

from collections.abc import Iterable

from lutrin import messages
from lutrin.records import Chunk, Passage, Question, Refusal
from lutrin.language.words import COUNTS, FORM_WORDS, QUESTION_WORDS, STOP_WORDS, stem, words

MAX_SUGGESTIONS = 5
_ANYWHERE = """advantage aim appendix background basics begin beginning benefit best better bibliography case
    caution change check checklist conclusion configuration content context convention definition demonstration
    disadvantage discussion drawback exercise faq final foreword glossary goal good hint history important
    installation intro introduction kind lesson limit limitation many material method more motivation next note
    objective outcome outline overview part practical practice preface prerequisite preview problem procedure
    purpose quiz rationale read recap reference remark requirement resource result review run sample scope setup
    solution start started task terminology theory tip troubleshooting try tutorial type unit usage value
    variant version warning worked"""
"""Words of titles that may stand in any chapter, besides those that any question may hold."""
_SAY_NOTHING = frozenset(map(stem, {*_ANYWHERE.split(), *QUESTION_WORDS, *FORM_WORDS, *COUNTS}))
_LEAN_BACK = frozenset("it its itself their them themselves these they this those".split())
"""In a title they mean something that is named above it."""


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


def suggestions(passages: Iterable[Passage]) -> tuple[str, ...]:
    """Topics of the book that are nearest to a question, the nearest first, in words that say what they are about."""
    topics: dict[str, str] = {}
    for passage in passages:
        if topic := _topic(passage.chunk):
            topics.setdefault(topic.casefold(), topic)
    return tuple(topics.values())[:MAX_SUGGESTIONS]


def _topic(chunk: Chunk) -> str:
    """Title of a passage's section: one that says nothing alone stands behind the nearest one that does.

    Empty where there is none.
    """
    title = chunk.section_title
    if not title or _says_enough(title):
        return title
    above = [heading for heading in reversed(chunk.heading_path) if heading != title]
    above += [_unnumbered(chunk.chapter), _unnumbered(chunk.module)]
    named = next((heading for heading in above if _says_enough(heading)), "")
    if not named:
        return ""
    return f"{named}{'' if named.endswith(('?', '!', ':', '.')) else ':'} {title}"


def _says_enough(title: str) -> bool:
    """Whether a title names a thing, and nothing that was named before: "Gears", but not "Overview" or "Fixing it"."""
    said = words(title)
    if any(word.lower() in _LEAN_BACK for word in said):
        return False
    return any(_names(word) for word in said)


def _names(word: str) -> bool:
    plain = word.lower()
    return not plain.isdigit() and plain not in STOP_WORDS and stem(plain) not in _SAY_NOTHING


def _unnumbered(title: str) -> str:
    """A chapter's title without what counts it: `Motors` for `Chapter 4: Motors`."""
    label, _, name = title.partition(": ")
    return name if name and not _says_enough(label) else title
