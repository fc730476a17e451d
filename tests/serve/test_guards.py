"""The guard before the parser, for any bytes at all."""

import contextlib

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lutrin.errors import MalformedRequest
from lutrin.serve.guards import MAX_DEPTH, check_body

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=30,
)
PIECES = st.lists(st.sampled_from([b"[", b"]", b"{", b"}", b'"', b"\\", b":", b",", b"1", b" ", b"a", b"\xc3\xa9"]))


def depth(value: object) -> int:
    """Nesting depth of a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@given(JSON)
def test_shallow_json_passes(value: object) -> None:
    """All JSON up to the depth limit reaches the parser; deeper JSON is refused."""
    try:
        check_body(msgspec.json.encode(value))
    except MalformedRequest:
        assert depth(value) > MAX_DEPTH
    else:
        assert depth(value) <= MAX_DEPTH


@settings(max_examples=500)
@given(PIECES.map(b"".join) | st.binary())
@example(b"[" * 60_000)
@example(b'{"a":' * 12_000)
@example(b'"' * 65_536)
@example(b'"\\' * 32_768)
@example(b"[" * 33 + b"]" * 33)
def test_what_passes_can_be_parsed_or_refused(body: bytes) -> None:
    """The parser meets nothing that it cannot take: no recursion error, no error of encoding."""
    try:
        check_body(body)
    except MalformedRequest:
        return
    with contextlib.suppress(msgspec.DecodeError):
        assert depth(msgspec.json.decode(body)) <= MAX_DEPTH


@given(st.integers(1, 100))
def test_the_depth_is_exact(levels: int) -> None:
    """32 levels pass, 33 do not, however they are made."""
    for body in (b"[" * levels + b"]" * levels, b'{"a":' * levels + b"1" + b"}" * levels):
        try:
            check_body(body)
        except MalformedRequest:
            assert levels > MAX_DEPTH
        else:
            assert levels <= MAX_DEPTH
