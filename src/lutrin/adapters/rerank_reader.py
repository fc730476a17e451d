"""The reranker that comes with the reader: a cross-encoder of the same size, which shares its embeddings of words.

`ranker.onnx` gives a logit for each token of question and passage; its table of words is the one in `model.onnx`
beside it. Windows run one by one, so nothing is padded and no window changes what another one gets.
"""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.adapters.embed_fastembed import open_session
from lutrin.ports import Judgement, Ranking, View

MODEL, LEARNED = "ranker.onnx", "ranker.json"
WINDOW_TOKENS = 128
"""Of a passage, as in training (`training.device.Sizes`), the last one a separator."""
MOST_WINDOWS = 3
"""Of a passage."""
QUESTION_TOKENS = 62
DIMENSION = 384  # of the reader's vectors


class ReaderReranker:
    """See the module's docstring.

    Args:
        directory: Folder of the reader, whose files the caller has checked.
        name: Of the reader.
        threads: Windows that are read at once.
    """

    def __init__(self, directory: Path, *, name: str, threads: int) -> None:
        self.name = f"{name}-ranker"
        self._directory = directory
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="rank")

    @cached_property
    def ranking(self) -> Ranking:
        """What was learned with it, from the file beside it."""
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
        asked = [first, *tokenizer.encode(question, add_special_tokens=False).ids[:QUESTION_TOKENS], last]
        read = tokenizer.encode(passage.text, add_special_tokens=False)
        offsets, words = np.array(read.offsets, dtype=np.int32).reshape(-1, 2), np.array(read.ids, dtype=np.int64)
        logits = np.full(len(words), -np.inf, dtype=np.float32)
        wholes = []
        for seen in windows(offsets[:, 0], passage):
            ids = np.array([[*asked, *words[seen].tolist(), last]], dtype=np.int64)
            types = (np.arange(ids.shape[1]) >= len(asked))[None].astype(np.int64)
            given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
            found: npt.NDArray[np.float32] = session.run(None, given)[0][0, len(asked) : -1]
            most = float(found.max(initial=-np.inf))
            wholes.append(most + float(np.log(np.exp(found - most).sum())) if len(found) else 0.0)
            logits[seen] = np.maximum(logits[seen], found)
        is_seen = np.isfinite(logits)
        return Judgement(max(wholes), offsets[is_seen], logits[is_seen])

    def _model(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                from tokenizers import Tokenizer  # noqa: PLC0415 - not needed where nothing is asked

                tokenizer = Tokenizer.from_file(str(self._directory / "tokenizer.json"))
                tokenizer.no_padding()
                tokenizer.no_truncation()
                self._loaded = tokenizer, open_session(self._directory / MODEL, f"local/{self.name}", DIMENSION)
            return self._loaded


def windows(starts: npt.NDArray[np.int32], passage: View) -> list[npt.NDArray[np.int64]]:
    """The tokens that are seen at once: the first ones of the headings, a third at most, and a stretch of the passage.

    Of a passage that is to be seen whole the stretches hold all, unless it needs more than `MOST_WINDOWS`: then they
    lie around the focus, as the only one of another passage does.

    Args:
        starts: (n,): the character that each token begins with.
        passage: Its focus is seen in any case.
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
