"""A cross-encoder by fastembed from an ONNX model in a local folder: question and passage are read together.

It is optional. The weights are large for their benefit, and the manifest lists none; `docs/evaluation.md` says how to
add one. Calls run one at a time, because the model uses all of its threads.
"""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lutrin.errors import ModelMissing

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
BATCH = 8
"""Passages in one run, padded to the longest."""


class FastembedReranker:
    """A cross-encoder such as ms-marco-MiniLM-L-6-v2, with one output.

    Args:
        model: The ONNX file; `FILES` lie beside it. The caller has checked them against the manifest.
        name: Name of the model.
        threads: Threads of one run.
    """

    def __init__(self, model: Path, *, name: str, threads: int = 1) -> None:
        self.name = name
        self._file = model
        self._threads = threads
        self._running = threading.Lock()
        self._encoder: Any = None

    async def scores(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Score how well each text answers; see `ports.Reranker.scores`."""
        return await asyncio.to_thread(self._scores, question, texts)

    def _scores(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        with self._running:
            if self._encoder is None:
                self._encoder = self._load()
            logits = np.array(list(self._encoder.rerank(question, list(texts), batch_size=BATCH)), dtype=np.float64)
        return (1 / (1 + np.exp(-logits))).astype(np.float32)

    def _load(self) -> Any:  # noqa: ANN401 - fastembed's class has no usable types
        from fastembed.common.model_description import ModelSource  # noqa: PLC0415 - takes a second to import
        from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - as above

        missing = [name for name in FILES if not (self._file.parent / name).is_file()]
        if missing:
            raise ModelMissing(
                f"The cross-encoder is incomplete: {', '.join(missing)} not in {self._file.parent}.",
                remedy="Add the files to its entry in models/manifest.toml and run `lutrin models fetch`.",
            )
        known = f"local/{self.name}"
        if known.lower() not in {model["model"].lower() for model in TextCrossEncoder.list_supported_models()}:
            TextCrossEncoder.add_custom_model(
                model=known, sources=ModelSource(hf=known), model_file=self._file.name, license="", description=""
            )
        return TextCrossEncoder(
            known,
            specific_model_path=str(self._file.parent),
            threads=self._threads,
            providers=["CPUExecutionProvider"],
        )
