"""Embeddings by fastembed from an ONNX model in a local folder, without network or cache.

One forward pass of a text gives its pooled vector and its token vectors. Each window runs alone at its own length, and
there are as many threads as cores. So no padding is computed, a text's vectors do not depend on its neighbours in a
batch, and mixed lengths run 6 to 7 times as fast as with fastembed's default.
"""

import asyncio
import os
import platform
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.errors import ModelMissing
from lutrin.platform import processor_description
from lutrin.ports import Encoding, Reading, Vectors, unit_length, windows

LEARNED, PROJECTION = "reader.json", "projection.npy"
FILES = ("model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")
WINDOW_TOKENS = 256
"""Tokens that all-MiniLM-L6-v2 was trained on (its `max_seq_length`), special tokens included."""
OVERLAP_TOKENS = 32
DOT_PRODUCTS = ("avx512_vnni", "avx_vnni")
SPECIAL_TOKENS = 2
AT_ONCE = 2
"""Threads that encode questions in order of arrival; more would compete for the cores. Questions wait here instead of
in the event loop, so that the next one starts while the loop works on others."""
SHORT_CHARACTERS = 1024
"""Texts up to which a call is encoded in one of these threads, because waking others takes longer."""


class FastembedEmbedder:
    """An encoder such as all-MiniLM-L6-v2, with L2-normalised vectors.

    Args:
        directory: Folder with `FILES`, which the caller has checked against the manifest.
        name: Name of the model; the embedder's own name also includes everything else that influences the vectors.
        pooling: How to represent a window: the mean of its tokens, or its first token (`cls`).
        threads: Windows to compute at once; 0: one for each core.
    """

    def __init__(
        self,
        directory: Path,
        *,
        name: str = "all-MiniLM-L6-v2-int8",
        dimension: int = 384,
        pooling: Literal["mean", "cls"] = "mean",
        threads: int = 0,
    ) -> None:
        self.name = f"{name}/w{WINDOW_TOKENS}o{OVERLAP_TOKENS}/i8"
        self.dimension = dimension
        self._directory = directory
        self._pooling = pooling
        self._model_name = f"local/{name}"
        self._threads = threads or os.cpu_count() or 1
        self._loading = threading.Lock()
        self._tokenizer: Any = None
        self._session: Any = None
        self._pool: ThreadPoolExecutor | None = None
        self._asking = _for_questions()

    @cached_property
    def reading(self) -> Reading:
        """Return the weights learned with the model, from the files that `training.export` writes, or the defaults."""
        try:
            content = (self._directory / LEARNED).read_bytes()
        except FileNotFoundError:
            return Reading()
        projection: Vectors = np.load(self._directory / PROJECTION, allow_pickle=False)
        learned = msgspec.json.decode(content, type=Reading, dec_hook=lambda _, row: np.array(row, dtype=np.float32))
        return replace(learned, projection=projection, fitted=True)

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return start and end of each token; see `ports.Embedder.token_offsets`."""
        offsets: list[tuple[int, int]] = self._tokens().encode(text, add_special_tokens=False).offsets
        return offsets

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode texts of any length; see `ports.Embedder.encode`."""
        if sum(map(len, texts)) > SHORT_CHARACTERS:
            return await asyncio.to_thread(self._encode, texts)
        return await asyncio.get_running_loop().run_in_executor(self._asking, self._encode, texts)

    def close(self) -> None:
        """End the threads; another call of `encode` would start new ones."""
        pool, self._pool, self._session = self._pool, None, None
        asking, self._asking = self._asking, _for_questions()
        asking.shutdown()
        if pool is not None:
            pool.shutdown()

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        tokenizer, session, pool = self._tokens(), *self._model()
        before, after = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        is_short = sum(map(len, texts)) <= SHORT_CHARACTERS
        # Otherwise a pool of threads shares the batch.
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
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            output: npt.NDArray[np.float32] = session.run(None, {name: inputs[name] for name in self._inputs})[0][0]
            return output

        # Longest first, so that no thread starts a long one at the end.
        order = sorted(range(len(jobs)), key=lambda index: jobs[index][1] - jobs[index][2])
        # A question is computed in this thread, since waking another one takes longer on busy cores.
        results = map(run, (jobs[i] for i in order)) if is_short else pool.map(run, (jobs[i] for i in order))
        hidden = dict(zip(order, results, strict=True))
        pieces: list[list[tuple[int, npt.NDArray[np.float32]]]] = [[] for _ in texts]
        for index, (number, start, _) in enumerate(jobs):
            pieces[number].append((start, hidden[index]))
        return [self._join(item.offsets, parts) for item, parts in zip(encoded, pieces, strict=True)]

    def _join(
        self, offsets: Sequence[tuple[int, int]], parts: Sequence[tuple[int, npt.NDArray[np.float32]]]
    ) -> Encoding:
        """Join an encoding from its windows; `parts` are (first token, hidden states (tokens + 2, dimension))."""
        of_cls = self._pooling == "cls"
        pooled = unit_length(np.stack([states[0] if of_cls else states.mean(axis=0) for _, states in parts]))
        tokens = np.empty((len(offsets), self.dimension), dtype=np.float32)
        reached = 0
        for start, states in parts:
            # Where windows overlap, each provides the tokens that have more context in it.
            begin = start + (reached - start) // 2 if reached else 0
            reached = start + len(states) - SPECIAL_TOKENS
            tokens[begin:reached] = states[1 + begin - start : -1]
        return Encoding(
            windows=pooled,
            token_vectors=unit_length(tokens),
            token_offsets=np.array(offsets, dtype=np.int32).reshape(-1, 2),
        )

    def _tokens(self) -> Any:  # noqa: ANN401 - `tokenizers` has no annotations that hold
        with self._loading:
            if self._tokenizer is None:
                self._require_files()
                self._tokenizer = open_tokenizer(self._directory)
            return self._tokenizer

    def _model(self) -> tuple[Any, ThreadPoolExecutor]:
        with self._loading:
            if self._session is None or self._pool is None:
                self._require_files()
                self._session = open_session(self._directory / FILES[0], self._model_name, self.dimension)
                self._inputs = [node.name for node in self._session.get_inputs()]
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
            return self._session, self._pool

    def _require_files(self) -> None:
        missing = [name for name in FILES if not (self._directory / name).is_file()]
        if missing:
            raise ModelMissing(
                f"The embedding model is incomplete: {', '.join(missing)} not in {self._directory}.",
                remedy="Run `lutrin models fetch`.",
            )


def open_tokenizer(folder: Path) -> Any:  # noqa: ANN401 - `tokenizers` has no annotations that hold
    """Open a model's tokenizer, which neither pads nor cuts."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - not needed where nothing is embedded

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def open_session(path: Path, name: str, dimension: int) -> Any:  # noqa: ANN401 - an onnxruntime session, which has no annotations that hold
    """Open an encoder's ONNX file through fastembed, for one thread of each run."""
    # fastembed takes a second to import, and an unchanged ingest embeds nothing.
    from fastembed import TextEmbedding  # noqa: PLC0415 - the package loads only where it is used
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415 - the package loads only where it is used
    from fastembed.text.custom_text_embedding import CustomTextEmbedding  # noqa: PLC0415 - the package loads only where it is used

    exact = "0" if multiplies_signed(platform.machine(), processor_description()) else "1"

    class Exact(CustomTextEmbedding):
        """Turns signed weights into unsigned ones where their products would overflow; slower, the same results."""

        @classmethod
        def add_extra_session_options(cls, session_options: Any, extra_options: Any) -> None:  # noqa: ANN401, ARG003 - fastembed's signature
            session_options.add_session_config_entry("session.x64quantprecision", exact)

    if name not in {model["model"] for model in TextEmbedding.list_supported_models()}:
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=name),
            dim=dimension,
            model_file=path.name,
        )
    # One thread for each window: parallel windows use the cores better than parallel matrices.
    return Exact(name, specific_model_path=str(path.parent), threads=1, providers=["CPUExecutionProvider"]).model


def find_published(name: str) -> tuple[str, str, int, Literal["mean", "cls"], str] | None:
    """A model of fastembed's list: repository, ONNX file, dimension, pooling, licence; None if it has no such model."""
    from fastembed import TextEmbedding  # noqa: PLC0415 - the package loads only where it is used
    from fastembed.text.onnx_embedding import supported_onnx_models  # noqa: PLC0415 - the package loads only where it is used

    # fastembed itself takes the first token of the models in this list.
    by_first_token = {model.model for model in supported_onnx_models}
    for model in TextEmbedding.list_supported_models():
        if model["model"] == name and model["sources"]["hf"]:
            pooling: Literal["mean", "cls"] = "cls" if name in by_first_token else "mean"
            return model["sources"]["hf"], model["model_file"], int(model["dim"]), pooling, model["license"]
    return None


def _for_questions() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="ask")


def multiplies_signed(processor: str, cpuinfo: str) -> bool:
    """Return whether ONNX Runtime multiplies signed 8-bit weights exactly here.

    On x86 without instructions for 8-bit dot products (VNNI) it adds pairs in 16 bits, which overflow.
    """
    return processor.lower() not in {"x86_64", "amd64", "i686"} or any(flag in cpuinfo for flag in DOT_PRODUCTS)
