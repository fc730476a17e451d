"""Ports: what the stages need from the outside world, one Protocol each. `lutrin.adapters` implements them.

Stages import ports, never adapters. Values are plain (`lutrin.records`, tuples, strings, NumPy arrays), and errors are
those of `lutrin.errors`. An `async` method may block on a disk, a network or a process; the others return at once. Each
port has one contract suite in `tests/ports/` that runs against its fake and its real adapters.
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lutrin.records import ChatMessage, Forecast, GenerationEvent, GenerationRequest, Message, Unit

Vectors = npt.NDArray[np.float32]
"""Shape (n, dimension), each row of length 1."""
Values = npt.NDArray[np.float32]
"""Shape (layers, width): what each layer of a language model keeps of one token."""


def unit_length(rows: npt.NDArray[np.float32]) -> Vectors:
    """Scale each row to length 1: (n, dimension) -> (n, dimension)."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = (rows / np.maximum(norms, 1e-12)).astype(np.float32)
    return scaled


def windows(length: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Cut `length` tokens into overlapping windows of about equal length.

    >>> windows(10, 16, 4)
    [(0, 10)]
    >>> windows(30, 16, 4)
    [(0, 13), (8, 21), (17, 30)]
    """
    if length <= size:
        return [(0, length)]
    count = -(-(length - overlap) // (size - overlap))
    span = -(-(length + (count - 1) * overlap) // count)
    starts = [round(index * (length - span) / (count - 1)) for index in range(count)]
    return [(start, start + span) for start in starts]


@dataclass(frozen=True, slots=True)
class Encoding:
    """A text as the embedding model sees it, from one forward pass for each window."""

    windows: Vectors
    """(windows, dimension): one vector for each stretch of text that fits the model; one row for most texts."""
    token_vectors: Vectors | None
    """(tokens, dimension), in text order, without special tokens; None if the model gives no token vectors."""
    token_offsets: npt.NDArray[np.int32]
    """(tokens, 2): start and end of each token in characters of the text; (0, 2) if `token_vectors` is None."""

    @property
    def pooled(self) -> npt.NDArray[np.float32]:
        """(dimension,): one vector of length 1 for the whole text, however many windows it has."""
        mean = self.windows.mean(axis=0)
        pooled: npt.NDArray[np.float32] = (mean / np.linalg.norm(mean)).astype(np.float32)
        return pooled


Encode = Callable[[Sequence[str]], Awaitable[list[Encoding]]]
"""Encodes questions and the texts to compare them with; caches the latest (`lutrin.search.search.Searcher.encode`)."""


async def likeness(encode: Encode, text: str, others: Sequence[str]) -> npt.NDArray[np.float32]:
    """(others,): cosine of a text with each of some others, at least one."""
    first, *rest = (one.pooled for one in await encode([text, *others]))
    cosines: npt.NDArray[np.float32] = np.array(rest) @ first
    return cosines


@dataclass(frozen=True, slots=True)
class Reading:
    """Weights learned together with an encoder: from its token vectors they tell which unit of a passage answers.

    A unit scores `scale (own o + headed h + passage p + dense c) + kind + length log(1 + words)`: o, h and p are the
    weighted means, over the question's tokens, of the best cosine among the tokens of the unit, of the unit and its
    headings, and of the whole passage; c is the cosine of the pooled vectors. The defaults are for an encoder without
    learned weights.
    """

    token: Vectors | None = None
    """(d,): a question's token vector times this is the log importance of the token; None: all count the same."""
    projection: Vectors | None = None
    """(d, k): token vectors are compared and stored as these k numbers; None: each index finds its own directions."""
    rarity: float = 1.0
    """Weight of the logarithm of a word's rarity, which is added to that."""
    own: float = 0.4
    headed: float = 0.6
    passage: float = 0.3
    dense: float = 0.3
    scale: float = 20.0
    kinds: Mapping[str, float] = field(default_factory=dict)
    length: float = 0.0
    lexical: float = 0.0
    """Weight of a passage's BM25, as a share of the best passage's."""
    answers: tuple[float, float] = (0.64, -11.6)
    """Slope and bias from a passage's score to the odds that it answers. The default is a logistic regression on 93
    questions about part of the sample book, as all-MiniLM-L6-v2 of fastembed's list sees it."""
    fitted: bool = False
    """Whether the grades of a model's sentences were fitted to this encoder; otherwise none counts as *stated*."""
    scope: tuple[float, ...] = ()
    """Weights for the odds that a book answers, in the order of `lutrin.search.reader.SIGNALS`, then the bias. If
    empty, the odds of the best passage decide."""

    def widen(self, dimension: int) -> "Reading":
        """The same weights for token vectors that are padded with zeros to `dimension` numbers."""

        def wider(vectors: Vectors | None) -> Vectors | None:
            if vectors is None:
                return None
            zeros = np.zeros((dimension - len(vectors), *vectors.shape[1:]), dtype=np.float32)
            return np.concatenate([vectors, zeros])

        return replace(self, token=wider(self.token), projection=wider(self.projection))

    def importance(self, tokens: Vectors) -> npt.NDArray[np.float32]:
        """(Q, d) -> (Q,): logarithm of how much each token of a question counts, up to a constant."""
        return tokens @ self.token if self.token is not None else np.zeros(len(tokens), dtype=np.float32)

    def form(self, unit: Unit) -> float:
        """Return the weight of a unit's form in its score."""
        return self.kinds.get(unit.kind, 0.0) + self.length * _length(unit.text)


@lru_cache(maxsize=65_536)
def _length(text: str) -> float:
    return math.log1p(len(text.split()))


class Embedder(Protocol):
    """Turns texts into vectors; the cosine of two vectors says how similar the texts are."""

    name: str
    """Model and settings, such as `all-MiniLM-L6-v2-int8`; vectors of different names are never compared."""
    dimension: int

    @property
    def reading(self) -> Reading:
        """The weights learned with this encoder."""

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Start and end, in characters of `text`, of each token as the model counts them, special tokens left out."""

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode texts of any length, in order; long texts are encoded whole.

        Raises:
            ModelMissing, ChecksumMismatch: The model file cannot be used.
            IndexUnavailable: The model is a service that cannot be reached.
        """


@dataclass(frozen=True, slots=True)
class Ranking:
    """How much a reranker's scores count beside the reader's, and the decisions from both.

    A unit scores `reader s + unit u + passage p`: s is the reader's score, u and p are the reranker's for the unit and
    its passage. The defaults are for a reranker whose log odds are added unchanged.
    """

    reader: float = 1.0
    unit: float = 0.0
    passage: float = 1.0
    answers: tuple[float, float] | None = None
    """Like `Reading.answers`, for these scores; None: use that of the reading."""
    scope: tuple[float, ...] = ()
    """Like `Reading.scope`, with the reranker's best passage as last signal; empty: it does not count."""

    def reading(self, reading: Reading) -> Reading:
        """A copy of a reading with the values fitted for these scores instead of its own."""
        return replace(reading, answers=self.answers or reading.answers, scope=self.scope or reading.scope)


@dataclass(frozen=True, slots=True)
class View:
    """A passage for a reranker that may see only part of it."""

    text: str
    body: int
    """Character at which the headings end; they are always visible."""
    focus: int
    """Character that must be visible."""
    whole: bool = False
    """Whether all of it must be visible, one stretch at a time, unless it is too long."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A reranker's scores for a passage."""

    passage: float
    """Log odds that it answers, up to a constant."""
    offsets: npt.NDArray[np.int32]
    """(n, 2): characters of each token that it saw; (0, 2) if it only scores whole passages."""
    tokens: npt.NDArray[np.float32]
    """(n,): log probability that each belongs to the answer, up to the same constant."""


class Reranker(Protocol):
    """Reads a question and a passage together, and scores how well the passage answers the question."""

    name: str
    """Name of the model."""

    @property
    def ranking(self) -> Ranking:
        """The weights learned with it."""
        ...

    async def judge(self, question: str, passages: Sequence[View]) -> list[Judgement]:
        """Judge passages, in order.

        Raises:
            ModelMissing: A file that the model needs is missing.
        """

    def close(self) -> None:
        """End its threads."""


class VectorIndex(Protocol):
    """A collection of vectors with metadata, opened for one generation of one book.

    Each call raises IndexUnavailable if records cannot be read or written.
    """

    async def add(
        self, ids: Sequence[str], vectors: Vectors, metadata: Sequence[Mapping[str, str | int | bool]]
    ) -> None:
        """Add records with new ids, while a generation is in progress.

        Args:
            vectors: (records, dimension), L2-normalised.
            metadata: Values to filter by; the same names in each.
        """

    async def search(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """The `k` nearest records whose metadata has the values of `where`, best first: ids and cosines (-1 to 1).

        Args:
            vector: (dimension,), L2-normalised.
        """

    async def ids(self) -> list[str]:
        """Every id in the collection, in no particular order."""

    async def close(self) -> None:
        """Write out the added records and release files and handles; make no other call afterwards."""


class VectorStore(Protocol):
    """Where collections of vectors live: one for each generation of a book.

    Each call raises IndexUnavailable if a collection cannot be made, reached or read.
    """

    async def create(self, directory: Path, collection: str, count: int) -> VectorIndex:
        """Make an empty collection, such as `physical-ai-textbook-v1`, laid out for `count` records.

        Args:
            directory: The generation's folder for vectors, new and empty; a remote store keeps a note there.
        """

    async def open(self, directory: Path, collection: str) -> VectorIndex:
        """Open a finished collection for searching; nothing is written into `directory`."""

    async def settle(self, collection: str, current: Path, others: Sequence[Path]) -> None:
        """Point the collection's name at a newly published generation, and drop collections that are no longer needed.

        May be called again, and must be called again after a crash. A store of folders has nothing to do.

        Args:
            current: The folder for vectors of the generation that is current.
            others: The folders of the other generations that may still be read.
        """


class BookRack(Protocol):
    """Store from which servers on several machines get the published books, as whole generations by name.

    Each call raises IndexUnavailable if the rack cannot be reached; published books stay.
    """

    async def generations(self) -> dict[str, bytes]:
        """The published generations: each name with its record."""

    async def offer(self, slug: str, name: str, record: bytes, files: Mapping[str, Path]) -> None:
        """Publish a generation in place of the book's current one, which is kept until the next is offered."""

    async def withdraw(self, slug: str) -> None:
        """Remove a book."""

    async def fetch(self, name: str, folder: Path) -> None:
        """Write the files of a generation into an empty folder."""


class Generator(Protocol):
    """A language model that serves several readers at once."""

    @property
    def name(self) -> str:
        """The model's name, as answers report it in `model_used`."""

    def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Generate text for one reader.

        The iterator yields any number of `Queued`, then of `Begun`, then `Piece`s, then one `Finished`. Closing it
        early cancels the generation and frees the model within one decoding step.

        Raises:
            GeneratorUnavailable: The model is unavailable (also in mid-stream, if its process dies).
            QueueFull: Too many readers wait.
            DeadlineExceeded: The request's deadline passed before its first token.
        """

    async def ready(self) -> bool:
        """Whether a request sent now would be served by the model."""

    def forecast(self, request: GenerationRequest) -> Forecast | None:
        """Estimate how long a request would take now, from recent ones; None until that is known."""

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Request that the stable beginnings of prompts, the likeliest first, be read while no reader waits."""

    def hold(self, waiting: int) -> None:
        """Compute hardly anything while this many readers on this machine wait for the book's words; 0: continue."""

    async def close(self) -> None:
        """End the model's process and free its memory; make no other call afterwards."""


@dataclass(frozen=True, slots=True)
class TokenRun:
    """Tokens to compute in one step, at consecutive positions of one sequence."""

    sequence: int
    start: int
    """Position of the first token: the number of tokens already in the sequence."""
    tokens: Sequence[int]
    wanted: bool
    """Whether the caller wants the most likely token after the last one."""


class Decoder(Protocol):
    """A language model in memory that computes several sequences of tokens in one step.

    Sequences are numbered from 0. They share `context_tokens` cells; a token copied from another sequence takes no
    further cell. Nothing here is safe to call from two threads.
    """

    sequences: int
    """Number of sequences."""
    context_tokens: int
    """Cells that all sequences share."""
    window_tokens: int
    """Longest single sequence."""
    step_tokens: int
    """Most tokens in one step, all runs together."""
    shares: bool
    """Whether `copy` can share the beginning of a sequence; a recurrent model cannot."""
    computed_by: str
    """Hardware that runs the model, processor or graphics processor, described for operators."""
    state_kind: str
    """Decoders of one model file can exchange states if this is equal; empty: this one provides none."""

    @property
    def step_seconds(self) -> Mapping[int, float]:
        """Seconds of a step by its number of wanted rows, as measured when the model was loaded."""

    def encode(self, messages: Sequence[Message], stable_chars: int = 0) -> tuple[list[int], int]:
        """Tokens of a chat prompt in the model's own form; the messages' text never yields a control token.

        The first `stable_chars` characters of the last message are encoded separately from the rest; also return the
        number of tokens up to their end, 0 for 0 characters.
        """

    def step(self, runs: Sequence[TokenRun], *, quietly: Callable[[], bool] | None = None) -> list[int | None]:
        """Compute all runs at once: for each, the most likely next token, or None if it is not wanted.

        A step computed `quietly`, on one core at the lowest priority, is abandoned once that returns true. It then
        returns nothing, and the caller must forget the computed part of the runs.

        The runs of one sequence are adjacent, and each continues the one before.

        Raises:
            GeneratorUnavailable: The step failed; the content of the sequences is unknown.
        """

    def odds(self, output: int, words: tuple[str, str]) -> float:
        """How much likelier the first word is to follow than the second, as natural log odds.

        Each counts by its first token, capitalised or not, whichever is likelier. The index `output` is among the
        wanted runs of the last step.
        """

    def logprob(self, output: int) -> float:
        """The log probability (natural) of the most likely next token."""

    def values(self, sequence: int, place: int) -> Values | None:
        """The values that the layers keep of the token at one position of a sequence, for later tokens to attend to.

        Returns:
            (layers, width); each row is a projection of the normalised hidden state that enters a layer. None: this
            model keeps them in another form.
        """

    def copy(self, source: int, target: int, start: int, end: int) -> None:
        """Let `target` hold the tokens of `source` from place `start` to before `end`, without computing them."""

    def save(self, sequence: int, end: int) -> bytes:
        """The state of the first `end` tokens of a sequence, for `restore`."""

    def restore(self, state: bytes, sequence: int, start: int, end: int) -> bool:
        """Let a sequence that holds `start` tokens hold `end`, from a state of as many tokens.

        False: the state does not belong to this model, or is too large for the free space; nothing has changed.
        """

    def forget(self, sequence: int, start: int = 0) -> None:
        """Drop the tokens of a sequence from place `start` on; 0 drops them all."""

    def text(self, token: int) -> bytes:
        """The bytes that a token adds to the text: UTF-8, possibly part of a character; none for a control token."""

    def ends(self, token: int) -> bool:
        """Whether the token ends the answer."""

    def close(self) -> None:
        """Free the model's memory; make no other call afterwards."""


class ChatStore(Protocol):
    """Conversations as the answer flow sees them."""

    async def append(self, session_id: str, messages: Sequence[ChatMessage]) -> None:
        """Store messages in one transaction; an unknown session is created."""

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """The newest `limit` messages of a session, oldest first; an unknown session has none."""
