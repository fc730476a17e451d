"""The tree of common beginnings, against a plain dictionary of sequences as the oracle."""

from hypothesis import given
from hypothesis import strategies as st

from lutrin.generate.prefix import PrefixTree, common_length

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple)


def distinct(held: dict[int, tuple[int, ...]]) -> int:
    """Tokens of all sequences, common beginnings counted once."""
    return len({tokens[:n] for tokens in held.values() for n in range(1, len(tokens) + 1)})


def test_common_length() -> None:
    """Length of the common beginning of two sequences."""
    assert common_length((1, 2, 3), (1, 2, 4)) == 2
    assert common_length((1, 2), (1, 2, 3)) == 2
    assert common_length((1, 2, 3), (1, 2)) == 2
    assert common_length((), (1,)) == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6), TOKENS), max_size=40), TOKENS)
def test_any_history_keeps_size_and_matches(
    moves: list[tuple[bool, int, tuple[int, ...]]], asked: tuple[int, ...]
) -> None:
    """After any insertions and removals the size is the number of distinct beginnings and the best match is found."""
    tree, held = PrefixTree(), dict[int, tuple[int, ...]]()
    for insert, sequence, tokens in moves:
        if sequence in held:
            tree.discard(sequence)
            del held[sequence]
        if insert:
            tree.insert(sequence, tokens)
            held[sequence] = tokens
    assert tree.size == distinct(held)
    assert tree.missing(asked) == distinct({**held, -1: asked}) - distinct(held)
    lengths = {sequence: common_length(tokens, asked) for sequence, tokens in held.items()}
    source, length = tree.match(asked, lambda sequence: len(held[sequence]))
    assert length == max(lengths.values(), default=0)
    assert (source is None) == (length == 0)
    assert source is None or lengths[source] == length


def test_a_match_counts_what_is_computed() -> None:
    """A longer prompt that is not computed yet gives less than a shorter one that is."""
    tree = PrefixTree()
    tree.insert(1, (1, 2, 3, 4, 5))
    tree.insert(2, (1, 2, 3, 9))
    computed = {1: 2, 2: 4}
    assert tree.match((1, 2, 3, 4, 5, 6), computed.__getitem__) == (2, 3)


def test_the_least_recently_used_goes_first() -> None:
    """Idle sequences leave in the order of their last use; active ones stay."""
    tree = PrefixTree()
    for sequence in range(4):
        tree.insert(sequence, (sequence, 0))
    for sequence in (0, 1, 2):
        tree.retire(sequence)
    tree.touch(0)
    assert [tree.evict() for _ in range(4)] == [1, 2, 0, None]
    assert 3 in tree
    assert tree.size == 2


def test_idle_tokens_are_those_that_eviction_frees() -> None:
    """Tokens shared with an active sequence do not count."""
    tree = PrefixTree()
    tree.insert(0, (1, 2, 3))
    tree.insert(1, (1, 2, 7, 8, 9))
    tree.retire(1)
    assert tree.idle_tokens() == 3
    tree.retire(0)
    assert tree.idle_tokens() == tree.size == 6
