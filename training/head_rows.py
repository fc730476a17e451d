"""A model's hidden states for written questions with the sections that Lutrin chooses; see `training.head`.

A pair is a question with one reading section: the first that Lutrin shows the model, and of some questions that the
book answers also the second and the third. Pairs with the same section are read together, so that the section is read
once, as it is in the product. What is kept are numbers and labels, without a word of a book.
"""

import random
import zlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec
import numpy as np
import numpy.typing as npt

from evaluation.shelf import ShelvedBook
from lutrin.answer.evidence import Evidence
from lutrin.answer.plan import make_plan
from lutrin.answer.prompt import YES_NO, Ability, Prompt, prompt_of
from lutrin.answer.runs import Run
from lutrin.generate.prefix import common_length
from lutrin.index.generation import OpenGeneration
from lutrin.ports import Decoder, TokenRun
from lutrin.query.understand import alone, with_wish
from lutrin.records import DoneEvent, Finished, Forecast, GenerationEvent, GenerationRequest, Message, Piece, Question
from lutrin.runtime.wiring import Runtime, answering
from lutrin.search.joints import parted
from training import sources
from training.calibrate import HELD
from training.sources import Source, Written

FURTHER = 0.3
"""Share of the second and third sections that are read, of questions that the book answers."""
SECTIONS = 3
BARELY = 0.1
"""A section that holds less of every place that answers does not answer."""
Half = npt.NDArray[np.float16]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A question with a section, and what reader and model think of whether the book answers."""

    book: str
    id: str
    kind: str
    place: int
    """1: the section that Lutrin shows the model; 2 and 3: those that it would show next."""
    near: bool
    """Whether the book does not answer the question."""
    holds: bool | None
    """Whether the section holds the places that answer; None: a part of them, or it is not known."""
    reader: float
    yes: float | None = None
    """None: the model is not asked, because the reader is sure."""
    head: float | None = None
    """Log odds of the head that was fitted on other books."""


class Pair(msgspec.Struct, frozen=True):
    """A row before the model has read it, and its prompt."""

    row: Row
    messages: tuple[Message, ...]
    stable_chars: int

    @property
    def section(self) -> tuple[str, str]:
        """Rules and section: what pairs that are read together share."""
        *_, last = self.messages
        return self.messages[0].content, last.content[: self.stable_chars]


def holds(run: Run, file: str, spans: Sequence[tuple[int, int]]) -> bool | None:
    """Whether the units of a section hold `HELD` of each place that answers; None: more than `BARELY` of one."""
    if run.chunk.filename != file:
        return False
    units = [(unit.char_start, unit.char_end) for unit in run.units]
    shares = [
        sum(max(0, min(end, last) - max(start, first)) for first, last in units) / (end - start) for start, end in spans
    ]
    return True if min(shares) >= HELD else None if max(shares) > BARELY else False


def sample(source: Source, folder: Path, most: int) -> list[tuple[Written, list[tuple[int, int]]]]:
    """Questions of randomly drawn pages: at most that many near ones, and twice as many others; 0: all.

    Raises:
        Missing: A page is not there, or another than the questions were written on.
    """
    questions = sources.written(source.name)
    pages = sorted({question.file for question in questions})
    random.Random(1).shuffle(pages)
    drawn = [(one, sources.places(one, folder)) for page in pages for one in questions if one.file == page]
    near = [item for item in drawn if item[0].near]
    others = [item for item in drawn if item[1]]
    return [*near[: most or None], *others[: 2 * most or None]]


async def pairs_of(
    house: Runtime, source: Source, questions: Sequence[tuple[Written, list[tuple[int, int]]]], top_k: int
) -> AsyncGenerator[Pair, None]:
    """The pairs of questions on the one book of a data folder."""
    (only,) = house.shelf.books()
    async with house.shelf.lease_books(only.book.slug) as generations:
        for question, spans in questions:
            for place, (section, prompt, reader) in enumerate(await _sections(house, generations, question, top_k), 1):
                key = f"{question.id} {place}"
                if place > 1 and (question.near or zlib.crc32(key.encode()) / 2**32 > FURTHER):
                    continue
                row = Row(
                    book=source.name, id=question.id, kind=question.kind, place=place, near=question.near,
                    holds=not question.near and holds(section, question.file, spans), reader=round(reader, 3),
                )  # fmt: skip
                yield Pair(row, prompt.asks_whether, prompt.stable_chars)


async def _sections(
    house: Runtime, generations: Sequence[OpenGeneration], question: Written, top_k: int
) -> list[tuple[Run, Prompt, float]]:
    """The sections that Lutrin chooses for a question, each with its prompt; none for one in several parts."""
    query = await with_wish(alone(Question(text=question.question)), house.searcher.encode)
    if query.refusal is not None:
        return []
    query = await parted(house.searcher, generations, query)
    found = await house.searcher.search(generations, query, k=top_k)
    plan = await make_plan(Evidence(query, found), sections=SECTIONS)
    if not plan.explainable or len(found.parts) > 1:
        return []
    prompts = [(one, prompt_of(query, plan.title, [one], own_words=False)) for one in plan.reading]
    return [(run, prompt, plan.odds) for (_, run), prompt in prompts if prompt is not None]


class Recorder:
    """A `Generator` that says yes, and keeps the request that asks whether the passage answers."""

    name = "recorder"

    def __init__(self) -> None:
        self.asked: GenerationRequest | None = None

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Say yes, or a word."""
        if request.between == YES_NO:
            self.asked = request
        else:
            yield Piece("Nothing.", -1.0)
        yield Finished("stop", 1, 1, 5.0)

    async def ready(self) -> bool:
        """Return that it is."""
        return True

    def forecast(self, request: GenerationRequest) -> Forecast | None:  # noqa: ARG002 - the port's
        """Give no estimate."""
        return None

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Read nothing ahead."""

    def hold(self, waiting: int) -> None:
        """Do not wait."""

    async def close(self) -> None:
        """Nothing to free."""


async def shelf_pairs(house: Runtime, book: ShelvedBook) -> AsyncGenerator[Pair | Row, None]:
    """The model's request for each question on a shelf's book, or a row if it is not asked."""
    recorder = Recorder()
    ability = Ability(tier="medium", own_words=False)
    flow = answering(house.settings, house.shelf, house.searcher, generator=recorder, ability=ability, chats=None)
    for one in book.questions:
        if one.kind == "far" or one.selected_text:
            continue
        recorder.asked = None
        earlier = (Message(role="user", content=one.previous_question),) if one.previous_question else ()
        asked = Question(text=one.question, earlier=earlier, explain=True)
        (done,) = [event async for event in flow.answer(asked) if isinstance(event, DoneEvent)]
        odds = done.made.odds if done.made is not None else 0.0
        row = Row(
            book=book.name, id=one.id, kind=one.kind, place=1, near=not one.in_book, holds=None, reader=round(odds, 3)
        )
        request: GenerationRequest | None = recorder.asked
        yield Pair(row, request.messages, request.stable_chars) if request is not None else row


def read(decoder: Decoder, pairs: Sequence[Pair]) -> Iterator[tuple[Row, Half]]:
    """Have a model read pairs, section by section; gives each with (layers, width), the values of its last token.

    Raises:
        Missing: The model keeps its values in another form.
    """
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.section, []).append(pair)
    held: list[int] = []
    for group in groups.values():
        prompts = [decoder.encode(pair.messages, pair.stable_chars)[0] for pair in group]
        shared = prompts[0][: min(len(prompts[0]) - 1, *(common_length(prompts[0], prompt) for prompt in prompts))]
        start = common_length(held, shared)
        decoder.forget(0, start)
        for at in range(start, len(shared), decoder.step_tokens):
            decoder.step([TokenRun(0, at, shared[at : at + decoder.step_tokens], wanted=False)])
        held = shared
        for pair, prompt in zip(group, prompts, strict=True):
            decoder.copy(0, 1, 0, len(shared))
            decoder.step([TokenRun(1, len(shared), prompt[len(shared) :], wanted=True)])
            values = decoder.values(1, len(prompt) - 1)
            if values is None:
                raise sources.Missing("This model keeps its values in a form that cannot be read.")
            yes = round(decoder.odds(0, YES_NO), 3)
            decoder.forget(1)
            yield msgspec.structs.replace(pair.row, yes=yes), values.astype(np.float16)


class Kept(msgspec.Struct):
    """Rows and their values, (rows, layers, width), as a file keeps them."""

    rows: list[Row]
    values: Half

    def write(self, path: Path) -> None:
        """Write a file; it gets its name once it is whole."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, values=self.values, rows=msgspec.json.encode(self.rows).decode())
        partial.replace(path)

    @classmethod
    def read(cls, paths: Sequence[Path]) -> Self:
        """Read files.

        Raises:
            Missing: There are none.
        """
        if not paths:
            raise sources.Missing("There is nothing to fit on: run `python -m training.head collect` first.")
        files = [np.load(path) for path in paths]
        rows = [row for file in files for row in msgspec.json.decode(str(file["rows"]), type=list[Row])]
        return cls(rows, np.concatenate([file["values"] for file in files]))
