"""Compare a stored answer with the one that its question gets now, for teachers who doubt an answer."""

import difflib
from collections.abc import Iterator

import msgspec

from lutrin.records import Answer, ChatMessage, Made, Message


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """Both answers, and what they were made from."""

    stored: ChatMessage
    """The answer that was given."""
    then: Made
    """How that answer was made."""
    now: Answer
    made: Made
    """How the answer was made now."""
    is_same_index: bool
    """Whether the index generation that answered is still there and answered again."""


def difference(replayed: Replayed) -> str:
    """Compare two runs for a terminal: index, settings, prompt, sources, answer."""
    before, after = replayed.then, replayed.made
    lines = [f"Question: {before.question.text}"]
    if not replayed.is_same_index:
        lines.append(f"The index generation {before.generation} is gone; {after.generation} answered instead.")
    lines += _line("Index", before.generation, after.generation)
    lines += [
        line
        for name in {**before.settings, **after.settings}
        for line in _line(name, before.settings.get(name, "-"), after.settings.get(name, "-"))
    ]
    lines += _line("Searched for", before.searched, after.searched)
    lines += _texts("Prompt", _prompt(before.prompt), _prompt(after.prompt))
    lines += _line("Kind", replayed.stored.kind or "-", replayed.now.kind)
    lines += _texts("Sources", _sources(replayed.stored), _sources(replayed.now))
    lines += _texts("Excerpts", _excerpts(replayed.stored), _excerpts(replayed.now))
    lines += _texts("Answer", replayed.stored.text, replayed.now.answer)
    return "\n".join(lines)


def _line(name: str, before: str, after: str) -> Iterator[str]:
    yield f"{name}: {before}" if before == after else f"{name}: {before} -> {after}"


def _texts(name: str, before: str, after: str) -> Iterator[str]:
    """Yield one line if the texts are equal, else a unified difference."""
    if before == after:
        yield f"{name}: the same ({len(before.split())} words)"
        return
    yield f"{name}: differs"
    yield from difflib.unified_diff(before.splitlines(), after.splitlines(), "stored", "now", n=1, lineterm="")


def _prompt(messages: tuple[Message, ...]) -> str:
    return "\n".join(f"{message.role}: {message.content}" for message in messages)


def _sources(answer: ChatMessage | Answer) -> str:
    cited = answer.citations if isinstance(answer, ChatMessage) else answer.sources
    return "\n".join(f"[{item.n}] {item.filename}: {' '.join(item.quote.split())}" for item in cited)


def _excerpts(answer: ChatMessage | Answer) -> str:
    return "\n".join(f"[{item.n}] {' > '.join(item.heading_path)}: {item.text}" for item in answer.excerpts)
