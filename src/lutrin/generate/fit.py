"""Makes any prompt fit: passages are left out of the middle, the stable beginning and the question stay."""

from collections.abc import Callable, Sequence

import msgspec

from lutrin.records import Message

Encode = Callable[[Sequence[Message]], list[int]]

BREAK = "\n\n"


def fit_prompt(messages: Sequence[Message], budget_tokens: int, encode: Encode) -> tuple[int, ...]:
    """Tokens of a prompt, at most `budget_tokens` of them.

    The longest message loses whole paragraphs, from the last but one backwards, all but the question if need be: its
    last paragraph is the question, its first ones are what other prompts share. If single paragraphs are too long for
    that, the tokens in the middle go.

    Args:
        messages: The prompt.
        budget_tokens: Most tokens that fit; at least 1.
        encode: The decoder's tokenizer and chat template.
    """
    tokens = encode(messages)
    if len(tokens) > budget_tokens:
        tokens = _without_paragraphs(messages, budget_tokens, encode, tokens)
    if len(tokens) <= budget_tokens:
        return tuple(tokens)
    head = budget_tokens // 2
    return (*tokens[:head], *tokens[len(tokens) - (budget_tokens - head) :])


def _without_paragraphs(
    messages: Sequence[Message], budget_tokens: int, encode: Encode, tokens: list[int]
) -> list[int]:
    """Tokens of a prompt with as many of its paragraphs as fit; with the question alone if even that is too long."""
    longest = max(range(len(messages)), key=lambda i: len(messages[i].content))
    paragraphs = messages[longest].content.split(BREAK)
    # How many paragraphs before the last one can stay; the number of tokens grows with it, so halving finds it.
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
