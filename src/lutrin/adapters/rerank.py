"""Cross-encoders, which read question and passage together: other makers' through fastembed, and the reader's own."""

import asyncio
import json
import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.adapters.embed_fastembed import open_session, open_tokenizer
from lutrin.errors import ModelMissing
from lutrin.ports import Judgement, Ranking, View

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
DENSE, NORM, SCORE = "dense.safetensors", "norm.safetensors", "score.safetensors"
"""Layers of a `Head`: files 2_Dense, 3_LayerNorm and 4_Dense of sentence-transformers."""
BATCH = 8
"""Passages in one run, padded to the longest."""
MOST = 13.8
"""Bound of the log odds; nothing is surer than a million to one."""
EPSILON = 1e-5
"""Added to a variance before it divides, as torch does."""

Numbers = npt.NDArray[np.float32]


def tensors(path: Path) -> dict[str, Numbers]:
    """The tensors of a safetensors file: length of its JSON header, the header, the numbers."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    result = {}
    for name, entry in json.loads(raw[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            data = raw[start + first : start + last]
            if entry["dtype"] == "BF16":  # the upper half of a float32
                numbers = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
            else:
                numbers = np.frombuffer(data, {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]).astype(np.float32)
            result[name] = numbers.reshape(entry["shape"])
    return result


@dataclass(frozen=True, slots=True)
class Head:
    """The last layers of a cross-encoder whose ONNX file ends at its encoder, as those of ettin-reranker do."""

    dense: Numbers
    """(d, d), without bias; followed by GELU."""
    gain: Numbers
    shift: Numbers
    """(d,) each: parameters of the layer norm after it."""
    weight: Numbers
    """(d,)."""
    bias: float

    @classmethod
    def read(cls, folder: Path) -> "Head | None":
        """The head in a folder; None if the ONNX file there is the whole model."""
        if not (folder / SCORE).is_file():
            return None
        dense, norm, score = (tensors(folder / name) for name in (DENSE, NORM, SCORE))
        bias = float(score["linear.bias"][0])
        return cls(dense["linear.weight"], norm["norm.weight"], norm["norm.bias"], score["linear.weight"][0], bias)

    def logits(self, first: Numbers) -> npt.NDArray[np.float64]:
        """(n, d), the encoder's vector of each pair's first token -> (n,)."""
        inner = (first @ self.dense.T).astype(np.float64)
        inner *= (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
        inner -= inner.mean(axis=1, keepdims=True)
        inner /= np.sqrt(inner.var(axis=1, keepdims=True) + EPSILON)
        scores: npt.NDArray[np.float64] = (inner * self.gain + self.shift) @ self.weight + self.bias
        return scores


class FastembedReranker:
    """A cross-encoder with one output, or an encoder with a `Head` beside it; the caller has checked its files.

    The manifest lists none; `docs/evaluation.md` says how to add one. Calls run one at a time, because the model uses
    all of its threads.
    """

    def __init__(self, model: Path, *, name: str, threads: int = 1) -> None:
        self.name = name
        self._file = model
        self._threads = threads
        self._running = threading.Lock()
        self._encoder: Any = None
        self._head: Head | None = None

    ranking = Ranking()

    async def judge(self, question: str, passages: Sequence[View]) -> list[Judgement]:
        """Judge passages; see `ports.Reranker.judge`."""
        logits = await asyncio.to_thread(self._logits, question, [passage.text for passage in passages])
        nothing = np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.float32)
        return [Judgement(float(np.clip(logit, -MOST, MOST)), *nothing) for logit in logits]

    def close(self) -> None:
        """There are no threads to end."""

    def _logits(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        with self._running:
            if self._encoder is None:
                self._encoder = self._load()
            if self._head is None:
                logits = np.array(list(self._encoder.rerank(question, list(texts), batch_size=BATCH)), dtype=np.float64)
            else:
                batches = [list(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
                first = [self._encoder.model.onnx_embed(question, batch).model_output for batch in batches]
                logits = self._head.logits(np.concatenate(first))
        return logits

    def _load(self) -> Any:  # noqa: ANN401 - fastembed's class has no usable types
        from fastembed.common.model_description import ModelSource  # noqa: PLC0415 - takes a second to import
        from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - the package loads only where it is used

        missing = [name for name in FILES if not (self._file.parent / name).is_file()]
        if missing:
            raise ModelMissing(
                f"The cross-encoder is incomplete: {', '.join(missing)} not in {self._file.parent}.",
                remedy="Add the files to its entry in models/manifest.toml and run `lutrin models fetch`.",
            )
        self._head = Head.read(self._file.parent)
        name = f"local/{self.name}"
        if name.lower() not in {model["model"].lower() for model in TextCrossEncoder.list_supported_models()}:
            TextCrossEncoder.add_custom_model(
                model=name, sources=ModelSource(hf=name), model_file=self._file.name, license="", description=""
            )
        return TextCrossEncoder(
            name, specific_model_path=str(self._file.parent), threads=self._threads, providers=["CPUExecutionProvider"]
        )


MODEL, LEARNED = "ranker.onnx", "ranker.json"
WINDOW_TOKENS = 128
"""Tokens of a passage's headings, as in training (`training.device.Sizes`), the last one a separator."""
MOST_WINDOWS = 3
"""Windows of a passage, at most."""
QUESTION_TOKENS = 62
DIMENSION = 384  # of the reader's vectors


class ReaderReranker:
    """The reader's own cross-encoder: of the same size, sharing its word embeddings.

    `ranker.onnx` gives a logit for each token of question and passage; its word table is the one in `model.onnx` beside
    it. Windows run one by one, so nothing is padded and windows do not affect each other.
    """

    def __init__(self, directory: Path, *, name: str, threads: int) -> None:
        self.name = f"{name}-ranker"
        self._directory = directory
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="rank")

    @cached_property
    def ranking(self) -> Ranking:
        """The fitted ranking, from the file beside it."""
        return msgspec.json.decode((self._directory / LEARNED).read_bytes(), type=Ranking)

    async def judge(self, question: str, passages: Sequence[View]) -> list[Judgement]:
        """Judge passages; see `ports.Reranker.judge`."""
        loop = asyncio.get_running_loop()
        return await asyncio.gather(*(loop.run_in_executor(self._pool, self._judge, question, one) for one in passages))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _judge(self, question: str, passage: View) -> Judgement:
        tokenizer, session = self._model()
        first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        prefix = [first, *tokenizer.encode(question, add_special_tokens=False).ids[:QUESTION_TOKENS], last]
        read = tokenizer.encode(passage.text, add_special_tokens=False)
        offsets, words = np.array(read.offsets, dtype=np.int32).reshape(-1, 2), np.array(read.ids, dtype=np.int64)
        logits = np.full(len(words), -np.inf, dtype=np.float32)
        wholes = []
        for seen in windows(offsets[:, 0], passage):
            ids = np.array([[*prefix, *words[seen].tolist(), last]], dtype=np.int64)
            types = (np.arange(ids.shape[1]) >= len(prefix))[None].astype(np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
            scores: npt.NDArray[np.float32] = session.run(None, inputs)[0][0, len(prefix) : -1]
            most = float(scores.max(initial=-np.inf))
            wholes.append(most + float(np.log(np.exp(scores - most).sum())) if len(scores) else 0.0)
            logits[seen] = np.maximum(logits[seen], scores)
        is_seen = np.isfinite(logits)
        return Judgement(max(wholes), offsets[is_seen], logits[is_seen])

    def _model(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                session = open_session(self._directory / MODEL, f"local/{self.name}", DIMENSION)
                self._loaded = open_tokenizer(self._directory), session
            return self._loaded


def windows(starts: npt.NDArray[np.int32], passage: View) -> list[npt.NDArray[np.int64]]:
    """The tokens of each window: the first ones of the headings, a third at most, and a stretch of the passage.

    The stretches cover a passage that must be seen whole, unless it needs more than `MOST_WINDOWS`: then they surround
    the focus, like the single stretch of any other passage.

    Args:
        starts: (n,): the character that each token begins with.
        passage: Its focus is always inside a window.
    """
    headings = int((starts < passage.body).sum())
    above = min(headings, WINDOW_TOKENS // 3)
    room = WINDOW_TOKENS - 2 - above
    count = max(1, min(MOST_WINDOWS if passage.whole else 1, -(-(len(starts) - headings) // room)))
    stretch = min(count * room, len(starts) - headings)
    focus = int(np.searchsorted(starts, passage.focus))
    begin = max(headings, min(focus - stretch // 3, len(starts) - stretch))
    begins = np.linspace(begin, max(begin, begin + stretch - room), count).round().astype(np.int64)
    return [np.r_[0:above, at : min(len(starts), at + room)] for at in begins.tolist()]
