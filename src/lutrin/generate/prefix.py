"""The common beginnings of prompts, as a radix tree over the sequences that hold them.

A node is a run of tokens, and a sequence passes through the nodes of its own tokens, from the root down. Two prompts
with the same beginning share nodes, exactly as their sequences share cells of the model's memory. So the size of the
tree is the number of cells in use. A sequence is *active* while a reader is served from it. Then it is *idle*: kept for
the next prompt with the same beginning, and evicted, least recently used first, when room is needed.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Node:
    """A run of tokens that all its holders have at the same places."""

    tokens: tuple[int, ...]
    parent: "Node | None"
    children: "dict[int, Node]" = field(default_factory=dict)
    holders: set[int] = field(default_factory=set)


def common_length(a: Sequence[int], b: Sequence[int]) -> int:
    """Number of tokens that two sequences share at their beginning."""
    if a[: len(b)] == b:
        return len(b)
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


class PrefixTree:
    """Which sequence holds which tokens.

    Attributes:
        size: Tokens in the tree, shared ones counted once.
    """

    def __init__(self) -> None:
        self.size = 0
        self._root = Node((), None)
        self._leaves: dict[int, Node] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, sequence: int) -> bool:
        return sequence in self._leaves

    def insert(self, sequence: int, tokens: tuple[int, ...]) -> None:
        """Record that an active sequence holds (or is about to compute) these tokens from its beginning on."""
        node, rest = self._root, tokens
        while rest:
            child = node.children.get(rest[0])
            if child is None:
                child = Node(rest, node)
                node.children[rest[0]] = child
                self.size += len(rest)
            else:
                shared = common_length(child.tokens, rest)
                if shared < len(child.tokens):
                    child = self._split(child, shared)
            child.holders.add(sequence)
            node, rest = child, rest[len(child.tokens) :]
        self._leaves[sequence] = node

    def discard(self, sequence: int) -> None:
        """Remove a sequence; tokens that no other holds leave the tree."""
        node: Node | None = self._leaves.pop(sequence)
        self._idle.pop(sequence, None)
        while node is not None and node.parent is not None:
            node.holders.discard(sequence)
            if not node.holders:
                del node.parent.children[node.tokens[0]]
                self.size -= len(node.tokens)
            node = node.parent

    def match(self, tokens: tuple[int, ...], held: Callable[[int], int]) -> tuple[int | None, int]:
        """The sequence from which the longest beginning of `tokens` can be copied.

        Args:
            tokens: A prompt.
            held: Number of its tokens that a sequence has computed.

        Returns:
            The sequence and the number of tokens; (None, 0) if none shares anything.
        """
        best, length = None, 0
        for node, depth in reversed(self._path(tokens)):
            if depth <= length:
                break
            for sequence in sorted(node.holders):
                if min(depth, held(sequence)) > length:
                    best, length = sequence, min(depth, held(sequence))
        return best, length

    def missing(self, tokens: tuple[int, ...]) -> int:
        """Number of tokens by which the tree would grow with a sequence of these."""
        path = self._path(tokens)
        return len(tokens) - (path[-1][1] if path else 0)

    def retire(self, sequence: int) -> None:
        """Make an active sequence idle, the most recently used one."""
        self._idle[sequence] = None

    def touch(self, sequence: int) -> None:
        """Mark an idle sequence as the most recently used one; an active one stays as it is."""
        if sequence in self._idle:
            self._idle.move_to_end(sequence)

    def evict(self) -> int | None:
        """Remove the least recently used idle sequence and return it; None if none is idle."""
        if not self._idle:
            return None
        sequence = next(iter(self._idle))
        self.discard(sequence)
        return sequence

    def idle_tokens(self) -> int:
        """Tokens that only idle sequences hold, which eviction can free."""
        total, stack = 0, list(self._root.children.values())
        while stack:
            node = stack.pop()
            stack.extend(node.children.values())
            if node.holders <= self._idle.keys():
                total += len(node.tokens)
        return total

    def _path(self, tokens: tuple[int, ...]) -> list[tuple[Node, int]]:
        """Nodes on the path of `tokens`, each with the number of tokens shared so far, the last one in part."""
        node, depth, path = self._root, 0, []
        while depth < len(tokens) and (child := node.children.get(tokens[depth])) is not None:
            shared = common_length(child.tokens, tokens[depth : depth + len(child.tokens)])
            depth += shared
            path.append((child, depth))
            if shared < len(child.tokens):
                break
            node = child
        return path

    def _split(self, node: Node, length: int) -> Node:
        """Cut a node in two and return the new parent, which has the first `length` tokens and the same holders."""
        parent = node.parent
        assert parent is not None, "the root has no tokens to split"  # noqa: S101 - narrows the type; splits start below the root
        upper = Node(node.tokens[:length], parent, holders=set(node.holders))
        parent.children[node.tokens[0]] = upper
        node.tokens, node.parent = node.tokens[length:], upper
        upper.children[node.tokens[0]] = node
        return upper
