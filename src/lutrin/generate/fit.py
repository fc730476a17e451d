"""Makes any prompt fit: drops passages from the middle, and keeps the stable beginning and the question."""

from collections.abc import Callable, Sequence

import msgspec

from lutrin.records import Message

Encode = Callable[[Sequence[Message], int], tuple[list[int], int]]

BREAK = "\n\n"


def fit_prompt(
    messages: Sequence[Message], stable_chars: int, budget_tokens: int, encode: Encode
) -> tuple[tuple[int, ...], int]:
    """Tokens of a prompt, at most `budget_tokens` of them, and how many are stable (of a cut prompt none).

    The longest message loses whole paragraphs, from the last but one backwards. Its last paragraph is the question,
    which stays, and its first ones are shared with other prompts. If single paragraphs are still too long, tokens in
    the middle go.

    Args:
        messages: The prompt.
        stable_chars: See `GenerationRequest`.
        budget_tokens: Most tokens that fit; at least 1.
        encode: The decoder's tokenizer and chat template.
    """
    tokens, stable = encode(messages, stable_chars)
    if len(tokens) <= budget_tokens:
        return tuple(tokens), stable
    tokens = _without_paragraphs(messages, budget_tokens, lambda shorter: encode(shorter, 0)[0], tokens)
    if len(tokens) <= budget_tokens:
        return tuple(tokens), 0
    head = budget_tokens // 2
    return (*tokens[:head], *tokens[len(tokens) - (budget_tokens - head) :]), 0


def _without_paragraphs(
    messages: Sequence[Message], budget_tokens: int, encode: Callable[[Sequence[Message]], list[int]], tokens: list[int]
) -> list[int]:
    """Tokens of a prompt with as many of its paragraphs as fit; with the question alone if even that is too long."""
    longest = max(range(len(messages)), key=lambda i: len(messages[i].content))
    paragraphs = messages[longest].content.split(BREAK)
    # Find by bisection how many paragraphs before the last one fit: the number of tokens grows with theirs.
    low, high = 0, len(paragraphs) - 1
    fitted = encode(_replaced(messages, longest, paragraphs[-1:])) if high else tokens
    low += 1
    while low < high:
        kept = (low + high) // 2
        tokens = encode(_replaced(messages, longest, [*paragraphs[:kept], paragraphs[-1]]))
        if len(tokens) <= budget_tokens:
            fitted, low = tokens, kept + 1
        else:
            high = kept
    return fitted


def _replaced(messages: Sequence[Message], index: int, paragraphs: Sequence[str]) -> list[Message]:
    shorter = msgspec.structs.replace(messages[index], content=BREAK.join(paragraphs))
    return [*messages[:index], shorter, *messages[index + 1 :]]
