"""The common beginnings of prompts, as a radix tree over the sequences that hold them.

A node is a run of tokens, and a sequence passes through the nodes of its own tokens, from the root down. Two prompts
with the same beginning share nodes, exactly as their sequences share cells of the model's memory. So the size of the
tree is the number of cells in use. A sequence is *active* while a reader is served from it. Then it is *idle*: kept for
the next prompt with the same beginning, and evicted, least recently used first, when room is needed.

Its store keeps what the model has read of the books: the states of prompts' stable beginnings, so that a passage is
read once.

A state is the keys and values of the rules and one section, exactly as a step computed them. It is kept in memory, and
on disk beside the index, so that a restart does not read a book again. The least recently used go first. A file is used
only if its digest is right; any other is removed, and its section is read again. Nothing here comes from a reader: the
caller says which characters of a prompt are the book's (`GenerationRequest.stable_chars`).
"""

import hashlib
import os
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec


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
    """Which sequence holds which tokens."""

    def __init__(self) -> None:
        self.size = 0
        self._root = Node((), None)
        self._leaves: dict[int, Node] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, sequence: int) -> bool:
        return sequence in self._leaves

    def insert(self, sequence: int, tokens: tuple[int, ...]) -> None:
        """Record that an active sequence holds, or is about to compute, these tokens from its beginning."""
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

    def match(self, tokens: tuple[int, ...], length_of: Callable[[int], int]) -> tuple[int | None, int]:
        """The sequence that holds most of the beginning of `tokens`, and how many; (None, 0) if there is none."""
        best, length = None, 0
        for node, depth in reversed(self._path(tokens)):
            if depth <= length:
                break
            for sequence in sorted(node.holders):
                if min(depth, length_of(sequence)) > length:
                    best, length = sequence, min(depth, length_of(sequence))
        return best, length

    def missing(self, tokens: tuple[int, ...]) -> int:
        """Number of tokens by which a sequence of these would grow the tree."""
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


SUFFIX = ".state"
DIGEST_BYTES = 32


class PassageLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the store of read passages."""

    memory_bytes: int = 0
    disk_bytes: int = 0
    folder: str = ""
    """Folder of its files; empty: it keeps none."""


class PassageStore:
    """States, keyed by the hash of the tokens behind them.

    The key also includes `made_by`, so states of another model or engine are never found.
    """

    def __init__(self, limits: PassageLimits, made_by: str) -> None:
        self._limits = limits
        self._made_by = made_by.encode()
        self._states: OrderedDict[str, bytes] = OrderedDict()
        self._folder = Path(limits.folder) if limits.folder and limits.disk_bytes else None
        self._unwritten: list[str] = []
        self._files: dict[str, int] = {}
        self.memory_bytes = 0
        """Size of the states in memory."""
        self._look()

    @property
    def disk_bytes(self) -> int:
        """Size of the files known to this process."""
        return sum(self._files.values())

    @property
    def unwritten(self) -> bool:
        """Whether a state waits to be written to disk."""
        return bool(self._unwritten)

    def key(self, tokens: Sequence[int]) -> str:
        """Name of the state of a sequence with these tokens at its beginning."""
        digest = hashlib.blake2b(array("i", tokens).tobytes(), digest_size=DIGEST_BYTES, key=b"passage")
        digest.update(self._made_by)
        return digest.hexdigest()

    def __contains__(self, key: str) -> bool:
        return key in self._states or key in self._files

    def get(self, key: str) -> bytes | None:
        """Return a state and mark it as the most recently used; None if there is none, or it is damaged."""
        state = self._states.get(key)
        if state is not None:
            self._states.move_to_end(key)
        if self._folder is None or key not in self._files:
            return state
        path = self._folder / f"{key}{SUFFIX}"
        try:
            os.utime(path)
            data = path.read_bytes() if state is None else b""
        except OSError:
            del self._files[key]  # another server on this folder has removed it
            return state
        if state is not None:
            return state
        if _digest(key, data[DIGEST_BYTES:]) != data[:DIGEST_BYTES]:
            self.drop(key)
            return None
        self._remember(key, data[DIGEST_BYTES:])
        return data[DIGEST_BYTES:]

    def put(self, key: str, state: bytes) -> None:
        """Keep a state in memory; `write` stores it on disk."""
        self._remember(key, state)
        if self._folder is not None and key in self._states and key not in self._files:
            self._unwritten.append(key)

    def drop(self, key: str) -> None:
        """Drop a state that could not be used."""
        self.memory_bytes -= len(self._states.pop(key, b""))
        if self._folder is not None and self._files.pop(key, None) is not None:
            with suppress(OSError):
                (self._folder / f"{key}{SUFFIX}").unlink(missing_ok=True)

    def write(self) -> None:
        """Store the next waiting state on disk. If the disk refuses, only the state after a restart is lost."""
        key = self._unwritten.pop(0)
        state = self._states.get(key)
        if self._folder is None or state is None:
            return
        fresh = self._folder / f"{key}.{os.getpid()}.new"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh.write_bytes(_digest(key, state) + state)
            fresh.replace(self._folder / f"{key}{SUFFIX}")
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            return
        self._look()

    def _remember(self, key: str, state: bytes) -> None:
        if len(state) > self._limits.memory_bytes:
            return
        self.memory_bytes += len(state) - len(self._states.pop(key, b""))
        self._states[key] = state
        while self.memory_bytes > self._limits.memory_bytes:
            _, oldest = self._states.popitem(last=False)
            self.memory_bytes -= len(oldest)

    def _look(self) -> None:
        """List the files, after removing the least recently used ones beyond the limit."""
        if self._folder is None:
            return
        files = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    state = entry.stat()
                    files.append((state.st_mtime_ns, state.st_size, Path(entry.path)))
        self._files, size = {}, 0
        for _, length, path in sorted(files, reverse=True):
            size += length
            if size > self._limits.disk_bytes:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            elif path.suffix == SUFFIX:
                self._files[path.stem] = length


def _digest(key: str, state: bytes) -> bytes:
    digest = hashlib.blake2b(key.encode(), digest_size=DIGEST_BYTES)
    digest.update(state)
    return digest.digest()
