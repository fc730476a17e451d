"""Embeddings by fastembed from an ONNX model in a local folder: no network, no cache elsewhere.

One forward pass of a text gives its pooled vector and its token vectors. Windows run one at a time, each at its own
length, on as many threads as the machine has cores: no padding is computed, a text's vectors don't depend on its
neighbours in a batch, and short and long texts mix at no cost (6 to 7 times fastembed's default on mixed lengths).
"""

import asyncio
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.adapters import embed_int8
from lutrin.errors import ModelMissing
from lutrin.ports import Encoding, Reading, Vectors

LEARNED, PROJECTION = "reader.json", "projection.npy"
FILES = ("model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")
WINDOW_TOKENS = 256
"""The length that all-MiniLM-L6-v2 was made for (`max_seq_length` of its publisher), special tokens included."""
OVERLAP_TOKENS = 32
SPECIAL_TOKENS = 2
AT_ONCE = 2
"""Threads that encode questions, in order of arrival; more would only take the cores from each other. A question waits
here and not in the event loop, so that the next one begins while the loop is at work on others."""
SHORT_CHARACTERS = 1024
"""Of texts that are encoded one after the other in one of these threads: waking others for them takes longer."""


class _Learned(msgspec.Struct, frozen=True):
    """`reader.json`, as `training.export` writes it; the fields are those of `Reading`."""

    token: tuple[float, ...]
    rarity: float
    own: float
    headed: float
    passage: float
    dense: float
    scale: float
    kinds: dict[str, float]
    length: float
    lexical: float
    answers: tuple[float, float]
    scope: tuple[float, ...]

    def reading(self, projection: Vectors) -> Reading:
        """The same as the stages know it."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        return Reading(**{**values, "token": np.array(self.token, dtype=np.float32), "projection": projection})


class FastembedEmbedder:
    """An encoder such as all-MiniLM-L6-v2, mean pooling, L2-normalised.

    Args:
        directory: Holds `FILES`; the caller has checked them against the manifest.
        name: Of the model; the embedder's own name adds what else decides about its vectors.
        dimension: Of the vectors.
        threads: Windows that are computed at once; 0: one for each core.
        keep: Where the converted model is kept (`embed_int8`); None, or a folder that cannot be written: nowhere, it is
            converted each time.
    """

    def __init__(
        self,
        directory: Path,
        *,
        name: str = "all-MiniLM-L6-v2-int8",
        dimension: int = 384,
        threads: int = 0,
        keep: Path | None = None,
    ) -> None:
        self.name = f"{name}/w{WINDOW_TOKENS}o{OVERLAP_TOKENS}/{embed_int8.RECIPE}"
        self._keep = keep
        self.dimension = dimension
        self._directory = directory
        self._model_name = f"local/{name}"
        self._threads = threads or os.cpu_count() or 1
        self._loading = threading.Lock()
        self._tokenizer: Any = None
        self._session: Any = None
        self._pool: ThreadPoolExecutor | None = None
        self._asking = _for_questions()

    @cached_property
    def reading(self) -> Reading:
        """Return the weights learned with the model, from the files beside it, or the defaults."""
        try:
            content = (self._directory / LEARNED).read_bytes()
        except FileNotFoundError:
            return Reading()
        projection: Vectors = np.load(self._directory / PROJECTION, allow_pickle=False)
        return msgspec.json.decode(content, type=_Learned).reading(projection)

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Start and end of each token; see `ports.Embedder.token_offsets`."""
        offsets: list[tuple[int, int]] = self._tokens().encode(text, add_special_tokens=False).offsets
        return offsets

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode texts of any length; see `ports.Embedder.encode`."""
        if sum(map(len, texts)) > SHORT_CHARACTERS:
            return await asyncio.to_thread(self._encode, texts)
        return await asyncio.get_running_loop().run_in_executor(self._asking, self._encode, texts)

    def close(self) -> None:
        """Let the threads go; the next call of `encode` would start new ones."""
        pool, self._pool, self._session = self._pool, None, None
        asking, self._asking = self._asking, _for_questions()
        asking.shutdown()
        if pool is not None:
            pool.shutdown()

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        tokenizer, session, pool = self._tokens(), *self._model()
        before, after = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        is_short = sum(map(len, texts)) <= SHORT_CHARACTERS
        # The other way a batch is shared out among threads of its own.
        encoded = (
            [tokenizer.encode(text, add_special_tokens=False) for text in texts]
            if is_short
            else tokenizer.encode_batch(list(texts), add_special_tokens=False)
        )
        jobs = [
            (number, start, stop)
            for number, item in enumerate(encoded)
            for start, stop in windows(len(item.ids), WINDOW_TOKENS - SPECIAL_TOKENS, OVERLAP_TOKENS)
        ]

        def run(job: tuple[int, int, int]) -> npt.NDArray[np.float32]:
            number, start, stop = job
            ids = np.array([[before, *encoded[number].ids[start:stop], after]], dtype=np.int64)
            fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            output: npt.NDArray[np.float32] = session.run(None, {name: fed[name] for name in self._inputs})[0][0]
            return output

        # Longest first, so that no thread is left with a long one at the end.
        order = sorted(range(len(jobs)), key=lambda index: jobs[index][1] - jobs[index][2])
        # A question is computed here: waking another thread for it takes longer where the cores are busy.
        results = map(run, (jobs[i] for i in order)) if is_short else pool.map(run, (jobs[i] for i in order))
        hidden = dict(zip(order, results, strict=True))
        pieces: list[list[tuple[int, npt.NDArray[np.float32]]]] = [[] for _ in texts]
        for index, (number, start, _) in enumerate(jobs):
            pieces[number].append((start, hidden[index]))
        return [self._join(item.offsets, parts) for item, parts in zip(encoded, pieces, strict=True)]

    def _join(
        self, offsets: Sequence[tuple[int, int]], parts: Sequence[tuple[int, npt.NDArray[np.float32]]]
    ) -> Encoding:
        """One encoding from its windows; `parts` are (first token, hidden states (tokens + 2, dimension))."""
        pooled = unit_length(np.stack([states.mean(axis=0) for _, states in parts]))
        tokens = np.empty((len(offsets), self.dimension), dtype=np.float32)
        reached = 0
        for start, states in parts:
            # Where windows overlap, each gives the tokens that lie deeper in it, with context on both sides.
            kept = start + (reached - start) // 2 if reached else 0
            reached = start + len(states) - SPECIAL_TOKENS
            tokens[kept:reached] = states[1 + kept - start : -1]
        return Encoding(
            windows=pooled,
            token_vectors=unit_length(tokens),
            token_offsets=np.array(offsets, dtype=np.int32).reshape(-1, 2),
        )

    def _tokens(self) -> Any:  # noqa: ANN401 - `tokenizers` has no annotations that hold
        with self._loading:
            if self._tokenizer is None:
                from tokenizers import Tokenizer  # noqa: PLC0415 - not needed where nothing is embedded

                self._require_files()
                self._tokenizer = Tokenizer.from_file(str(self._directory / "tokenizer.json"))
                self._tokenizer.no_padding()
                self._tokenizer.no_truncation()
            return self._tokenizer

    def _model(self) -> tuple[Any, ThreadPoolExecutor]:
        with self._loading:
            if self._session is None or self._pool is None:
                self._require_files()
                self._session = self._load()
                self._inputs = [node.name for node in self._session.get_inputs()]
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
            return self._session, self._pool

    def _load(self) -> Any:  # noqa: ANN401 - an onnxruntime session, which has no annotations that hold
        from fastembed import TextEmbedding  # noqa: PLC0415 - takes a second to import; an unchanged ingest needs none
        from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415 - as above

        if self._model_name not in {model["model"] for model in TextEmbedding.list_supported_models()}:
            TextEmbedding.add_custom_model(
                model=self._model_name,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=self._model_name),
                dim=self.dimension,
                model_file="model.onnx",
            )
        with self._converted() as folder:
            # One thread inside a window: parallel windows share the cores better than parallel matrices.
            loaded = TextEmbedding(
                self._model_name, specific_model_path=str(folder), threads=1, providers=["CPUExecutionProvider"]
            )
        return loaded.model.model  # type: ignore[attr-defined]  # the base class does not name its session

    @contextmanager
    def _converted(self) -> Iterator[Path]:
        """The folder of the converted model, for as long as it is loaded."""
        with tempfile.TemporaryDirectory() as spare:
            try:
                folder = embed_int8.prepared(self._directory, FILES, self._keep or Path(spare))
            except OSError:
                folder = embed_int8.prepared(self._directory, FILES, Path(spare))
            yield folder

    def _require_files(self) -> None:
        missing = [name for name in FILES if not (self._directory / name).is_file()]
        if missing:
            raise ModelMissing(
                f"The embedding model is incomplete: {', '.join(missing)} not in {self._directory}.",
                remedy="Run `lutrin models fetch default`.",
            )


def _for_questions() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="ask")


def windows(length: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Cut `length` tokens into overlapping windows of about equal length.

    >>> windows(10, 16, 4)
    [(0, 10)]
    >>> windows(30, 16, 4)
    [(0, 13), (8, 21), (17, 30)]

    Args:
        length: Tokens of the text.
        size: Tokens that a window holds at most.
        overlap: Tokens that neighbours share at least.

    Returns:
        Pairs of first token and token after the last, in order; one window even for no tokens.
    """
    if length <= size:
        return [(0, length)]
    count = -(-(length - overlap) // (size - overlap))
    span = -(-(length + (count - 1) * overlap) // count)
    starts = [round(index * (length - span) / (count - 1)) for index in range(count)]
    return [(start, start + span) for start in starts]


def unit_length(rows: npt.NDArray[np.float32]) -> Vectors:
    """Scale each row to length 1: (n, dimension) -> (n, dimension)."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = (rows / np.maximum(norms, 1e-12)).astype(np.float32)
    return scaled
