"""From tokens to text, and prompts that fit."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lutrin.generate.scheduler import Pace, TextStream, fit_prompt, loops
from lutrin.records import Message


@given(st.text(), st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3), st.data())
def test_text_is_whole_however_it_is_cut(text: str, stop: list[str], data: st.DataObject) -> None:
    """Bytes in any pieces give the text up to the stop that is whole first, no half characters."""
    raw = text.encode()
    stream, read = TextStream(stop), []
    while raw and not stream.stopped:
        size = data.draw(st.integers(1, len(raw)))
        read.append(stream.feed(raw[:size]))
        raw = raw[size:]
    read.append(stream.finish())
    ends = [(at + len(mark), at) for mark in stop if (at := text.find(mark)) >= 0]
    assert stream.stopped == bool(ends)
    assert "".join(read) == (text[: min(ends)[1]] if ends else text)


def test_a_stop_string_that_does_not_come_is_released() -> None:
    """Text that looked like the beginning of a stop string is sent as soon as it is clear that it was not."""
    stream = TextStream(("###",))
    assert [stream.feed(piece) for piece in (b"a#", b"#b", b"##", b"")] == ["a", "##b", "", ""]
    assert stream.finish() == "##"


def test_half_a_character_at_the_end_is_marked() -> None:
    """An answer that is cut within a character ends in U+FFFD."""
    stream = TextStream()
    assert stream.feed("é".encode()[:1]) == ""
    assert stream.finish() == "\ufffd"


def test_loops() -> None:
    """A stretch that comes three times in a row, 24 tokens or more in all, is a loop."""
    for tokens, repeated in (
        ([1] * 24, True),
        ([1] * 23, False),
        ([1, 2, 3, 4, 5, 6, 7, 8] * 3, True),
        ([1, 2, 3, 4, 5, 6, 7, 8] * 2, False),
        (list(range(40)) * 3, True),
        ([*range(40), *range(40), *range(39)], False),
        (list(range(500)), False),
        ([], False),
    ):
        assert loops(tokens) == repeated


def words(messages: Sequence[Message], stable_chars: int = 0) -> tuple[list[int], int]:
    """A tokenizer for tests: a token is a word's number, -1 is before each message."""
    tokens = [token for message in messages for token in (-1, *(int(word) for word in message.content.split()))]
    return tokens, len(tokens) - len(messages[-1].content[stable_chars:].split()) if stable_chars else 0


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(4, 200))
def test_prompts_are_cut_to_the_budget(sizes: list[int], budget: int) -> None:
    """A prompt that fits is untouched; one that does not ends in the question and begins as it did."""
    paragraphs = [" ".join([str(n)] * size) for n, size in enumerate(sizes)]
    messages = [Message(role="system", content="100"), Message(role="user", content="\n\n".join(paragraphs))]
    whole, _ = words(messages)
    tokens, stable = fit_prompt(messages, len(paragraphs[0]), budget, words)
    assert len(tokens) <= budget
    if len(whole) <= budget:
        assert list(tokens) == whole
        assert tokens[2:stable] == (-1, *[0] * sizes[0])
    else:
        assert tokens[:2] == (-1, 100)
        assert tokens[-1] == len(sizes) - 1
        assert stable == 0


def test_whole_paragraphs_go_from_the_back() -> None:
    """The passages that are first stay whole; those before the question go."""
    content = "\n\n".join(" ".join([str(n)] * 10) for n in range(6))
    tokens, _ = fit_prompt([Message(role="user", content=content)], 0, 35, words)
    assert tokens == (-1, *[0] * 10, *[1] * 10, *[5] * 10)


def test_pace_learns_and_forgets() -> None:
    """Costs follow what was seen last; numbers of readers that were not seen follow from those that were."""
    pace = Pace()
    assert pace.answer_s(1000, 100, 10) == 0.0
    for _ in range(50):
        pace.observe(prefill=100, decoding=0, seconds=1.0)
        pace.observe(prefill=0, decoding=1, seconds=0.1)
        pace.observe(prefill=0, decoding=8, seconds=0.4)
    assert pace.prefill_s == pytest.approx(0.01)
    assert (pace.decode_s(2), pace.decode_s(7), pace.decode_s(50)) == pytest.approx((0.143, 0.357, 1.45), rel=0.01)
    assert pace.answer_s(200, 10, 8) == pytest.approx(6.0)
    for _ in range(50):
        pace.observe(prefill=100, decoding=0, seconds=2.0)
    assert pace.prefill_s == pytest.approx(0.02, rel=0.01)


def test_a_slow_machine_reads_prompts_in_shorter_steps() -> None:
    """Three seconds at most, so that its process is not taken for stuck; what it costs shows down to sixteen tokens."""
    for token_s, tokens in ((0.0, 16), (0.01, 128), (0.1, 30), (0.5, 16)):
        pace = Pace()
        pace.observe(prefill=100, decoding=0, seconds=100 * token_s)
        assert pace.prompt_tokens(128) == tokens
