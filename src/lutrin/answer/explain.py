"""The model's part of an answer: it writes from the reading sections; each sentence is graded before it is sent."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from lutrin import messages, stages
from lutrin.answer.grade import (
    Grader,
    RawSentence,
    bare_sentence,
    calculations,
    evidence_of,
    is_copy,
    may_be_own,
    stands_in,
)
from lutrin.answer.plan import Plan
from lutrin.answer.prompt import ANONYMOUS, ASKED, MARKED, OWN_WORDS, SO_FAR, YES_NO, Ability, Prompt, prompt_of
from lutrin.answer.punctuality import STANDARD, Estimate, Punctuality
from lutrin.answer.traffic import Traffic
from lutrin.errors import DeadlineExceeded, GeneratorError, QueueFull
from lutrin.ingest.sentences import sentence_ranges
from lutrin.language.lexicon import NEGATIONS
from lutrin.language.words import stem_set, words
from lutrin.log import get_logger
from lutrin.ports import Generator
from lutrin.records import (
    Begun,
    ChatMessage,
    Finished,
    GenerationEvent,
    GenerationRequest,
    Piece,
    Question,
    Queued,
    QueuedEvent,
    Sentence,
    WorkingEvent,
)
from lutrin.search.result import Verdict, load_decisions
from lutrin.settings import Settings

FAST_S = 1.0
"""Seconds within which a model's first sentence goes above the book's answer; a later one goes below."""
MARGIN_S = 0.2
"""Reserved for the work after the last generated token, with ten answers in progress."""
LONGEST_S = 600.0
"""Bounds an answer: no clock cuts off a reader on a stream, but a stuck model is stopped."""
COPIED_WORDS = 8
"""A sentence that begins with this many words of the text above, in the same order, is a copy."""
LEAST_COPIED_WORDS = 3
"""A copy of fewer words says nothing by itself."""
MOST_OWN = 3
"""Sentences in the model's own words."""
SAID_ODDS = 2.0
"""Log odds of a yes or no from a service that reports no probabilities."""
_ENDS = (".", "!", "?", ":", '"', "\u201d", ")", "*", "`", "]")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
"""Thoughts that some models write before they answer."""
_BEGUN = re.compile(r"<(?:t(?:h(?:i(?:nk?)?)?)?)?\Z")
"""Beginnings of text that may start a thought."""
_FRAGMENT = re.compile(r"\W*\Z")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*(?:`|\Z)")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+", re.MULTILINE)


class Judgement(NamedTuple):
    """A model's judgement of whether the sections answer, as log odds."""

    yes: float
    """Log odds of its yes, if it is asked for yes or no."""
    head: float | None = None
    """Log odds of its head (`lutrin.generate.head`); None if it has none."""


@dataclass(slots=True)
class Explanation:
    """The model's shown sentences, and why there are no more."""

    sentences: list[Sentence] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """Notices for the reader."""
    yes: float | None = None
    """Log odds of the model's yes to whether the sections answer."""
    is_reduced: bool = False
    """Whether a sentence was dropped because it does not hold."""
    own_words: bool = False
    """Whether a shown sentence is more than a copy of the book."""
    is_cut: bool = False
    """Whether the model ran into its length limit."""
    above: tuple[str, ...] = ()
    """Text of the book that the reader sees already; empty while the model speaks first. A copy of it adds nothing."""
    proofs: dict[int, set[int]] = field(default_factory=dict)
    """Starts of the units that support the shown sentences, by section number."""
    sums: list[str] = field(default_factory=list)
    """Calculations that proved right; later sentences may use their results."""
    steps: list[Sentence] = field(default_factory=list)
    """A list in progress with its announcement: it is shown once it is complete."""
    has_gap: bool = False
    """Whether one of its items does not hold; then none is shown."""

    def take(self, sentence: Sentence | None, *, is_item: bool) -> Sequence[Sentence]:
        """The sentences to show after a sentence or item was graded; None: it does not hold, or adds nothing."""
        if is_item:
            self.has_gap = self.has_gap or sentence is None
            self.steps += [sentence] if sentence is not None else []
            return ()
        shown = self.finish_list()
        if sentence is not None and sentence.text.endswith(":"):
            self.steps.append(sentence)
        elif sentence is not None:
            self.sentences.append(sentence)
            shown = [*shown, sentence]
        return shown

    def finish_list(self) -> Sequence[Sentence]:
        """The complete list, if it is shown; nothing of a list with a gap, or of an announcement alone."""
        is_alone = len(self.steps) == 1 and self.steps[0].text.endswith(":")
        shown = [] if self.has_gap or is_alone else self.steps
        self.is_reduced = self.is_reduced or len(shown) < len(self.steps)
        self.steps, self.has_gap = [], False
        self.sentences += shown
        return shown


class Explainer:
    """Asks a model to explain; `clock` gives monotonic seconds."""

    def __init__(
        self,
        generator: Generator,
        grader: Grader,
        settings: Settings,
        traffic: Traffic,
        clock: Callable[[], float],
        *,
        ability: Ability | None = None,
    ) -> None:
        self.name = generator.name
        self.ability = ability or Ability()
        self._generator = generator
        self._grader = grader
        self._settings = settings
        self._traffic = traffic
        self._clock = clock
        self.punctuality = Punctuality()
        self._log = get_logger("answer")

    def warm(self, prompts: Sequence[Prompt]) -> None:
        """Have the stable beginnings of prompts read while idle."""
        self._generator.warm([prompt.request(max_tokens=1, deadline_s=LONGEST_S) for prompt in prompts])

    @property
    def is_paused(self) -> bool:
        """Whether unasked explanations are paused, because the model was far too late twice in a row."""
        if self.punctuality.is_paused and self.punctuality.is_better(self._generator.forecast(STANDARD)):
            self.punctuality.resume()
        return self.punctuality.is_paused

    def forecast(self, prompt: Prompt) -> Estimate | None:
        """How long an explanation would take now, corrected by past errors; None if unknown."""
        raw = self._generator.forecast(prompt.request(max_tokens=self._longest(ANONYMOUS), deadline_s=LONGEST_S))
        return self._estimate(raw.first_s, raw.each_s) if raw is not None else None

    def _estimate(self, first_s: float, each_s: float) -> Estimate:
        """An estimate that includes readers whose search is running: they hold the model back, and then ask it, too.

        They queue behind this reader and share the model's steps: half of their work comes before this first sentence.
        """
        return self.punctuality.corrected(first_s + self._traffic.held_s + self._traffic.others * each_s / 2)

    def note_wait(self, estimate: Estimate | None, took_s: float) -> None:
        """Record how long the first sentence took, or the notice that there is none."""
        if estimate is not None:
            self.punctuality.note(estimate, took_s, self._generator.forecast(STANDARD))

    def _eta_s(self, first_s: float) -> float:
        """The estimate to send to a reader anew."""
        standard = self._generator.forecast(STANDARD)
        return round(self._estimate(first_s, standard.each_s if standard is not None else 0.0).first_s, 1)

    def _longest(self, question: Question) -> int:
        longest = min(self._settings.answer_tokens, self.ability.answer_tokens)
        return min(longest, question.answer_tokens or longest)

    def begin(self, plan: Plan, earlier: Sequence[ChatMessage], started: float) -> "ModelWork":
        """Ask the model whether the passage answers, if it is to explain; unasked, only if it is likely to be quick."""
        question = plan.query.question
        prompts = self._prompts(plan, earlier)
        # If no yes of the model could lift a refusal, its answer does not matter.
        may_lift = not plan.is_sure and load_decisions().with_model.may_lift(plan.odds)
        if not prompts or (plan.verdict == "no" and not may_lift and not question.explain):
            return ModelWork(plan)
        forecast = self.forecast(prompts[0])
        is_fast = forecast is not None and forecast.first_s <= FAST_S
        is_near = forecast is None or forecast.first_s <= self._settings.live_s
        if question.wait_s is not None:
            begins = question.wait_s > 0 or is_fast
        else:
            begins = question.explain or is_fast or (is_near and plan.verdict != "no" and not self.is_paused)
        work = ModelWork(
            plan, explainer=self, prompts=prompts, forecast=forecast, is_fast=is_fast and begins, offers=not begins
        )
        if begins:
            work.yes = asyncio.create_task(self.yes(plan, prompts[0], started))
        return work

    def _prompts(self, plan: Plan, earlier: Sequence[ChatMessage]) -> list[Prompt]:
        """Build the model's prompts, one for each step; none if there is nothing for the model to do."""
        if not plan.explainable:
            return []
        own_words = self.ability.own_words and self._settings.own_words
        steps = [[one] for one in plan.reading] if plan.query.sums_chapter else [plan.reading]
        prompts = [prompt_of(plan.query, plan.title, step, earlier, own_words=own_words) for step in steps]
        return [prompt for prompt in prompts if prompt is not None]

    async def yes(self, plan: Plan, prompt: Prompt, started: float) -> Judgement | None:
        """The model's judgement of whether the sections answer; None if it does not count, or is late."""
        if plan.query.sums_chapter:
            return Judgement(SAID_ODDS)  # that a chapter says what it says is sure
        if not self.ability.judges:
            return None
        left_s = self._left_s(plan, started)
        request = prompt.yes_request(plan.query.question, deadline_s=left_s)
        text, judged = "", None
        with suppress(TimeoutError, GeneratorError):
            async with asyncio.timeout(left_s), aclosing(timed_stream(self._generator, request)) as stream:
                async for event in stream:
                    text += event.text if isinstance(event, Piece) else ""
                    if isinstance(event, Finished) and event.odds is not None:
                        judged = Judgement(event.odds, event.head)
        if judged is not None or not text:
            return judged
        return Judgement(SAID_ODDS if text.strip().lower().startswith(YES_NO[0]) else -SAID_ODDS)

    async def sentences(
        self,
        plan: Plan,
        prompt: Prompt,
        started: float,
        explanation: Explanation,
        yes: "asyncio.Task[Judgement | None]",
    ) -> AsyncGenerator[QueuedEvent | WorkingEvent | Sentence, None]:
        """Stream the sentences that may be shown, and progress; fill `explanation` with them and with why they end.

        The log odds of the model's yes are a signal of each grade. A stream that a reader waits for is not cut off.
        """
        question = plan.query.question
        left_s = self._left_s(plan, started)
        request = prompt.request(
            question,
            max_tokens=self._longest(question),
            deadline_s=left_s,
        )
        stream = sentences_of(self._generator, request, partial(self._copies, explanation))
        try:
            async with asyncio.timeout(left_s), aclosing(stream) as items:
                async for item in items:
                    match item:
                        case Queued():
                            yield QueuedEvent(position=item.position, eta_s=self._eta_s(item.eta_s))
                        case Begun():
                            yield WorkingEvent(what="reading", eta_s=self._eta_s(item.eta_s))
                        case Piece():
                            yield WorkingEvent(what="writing")
                        case Finished():
                            explanation.is_cut = item.reason == "length"
                            # A truncated list lacks steps.
                            for one in explanation.finish_list() if item.reason == "stop" else ():
                                yield one
                        case RawSentence():
                            judged = await yes
                            odds = judged.yes if judged is not None else 0.0
                            sentence = await self._grade(item, plan, prompt, explanation, odds)
                            is_item = bool(_ITEM.match(item.text))
                            for one in explanation.take(sentence, is_item=is_item):
                                yield one
        except (TimeoutError, DeadlineExceeded):
            if not explanation.sentences:
                explanation.warnings.append(messages.PAST_DEADLINE)
        except GeneratorError as error:
            self._log.warning("generator_failed", error=error.detail)
            if not explanation.sentences:
                explanation.warnings.append(messages.MODEL_AWAY)

    @staticmethod
    def _copies(explanation: Explanation, begun: str) -> bool:
        """Whether the sentence in progress repeats one that the reader sees already."""
        return bool(explanation.above) and len(begun.split()) >= COPIED_WORDS and stands_in(begun, explanation.above)

    def _left_s(self, plan: Plan, started: float) -> float:
        """Seconds that a client without streaming still waits; a reader of a stream waits as long as they like."""
        wait_s = plan.query.question.wait_s
        most_s = LONGEST_S if wait_s is None else min(wait_s, self._settings.explain_s)
        most_s = most_s or self._settings.deadline_s  # no one waits, but a model that is fast enough may speak
        return max(most_s - (self._clock() - started) - MARGIN_S, 0.0)

    async def _grade(
        self, sentence: RawSentence, plan: Plan, prompt: Prompt, explanation: Explanation, yes: float
    ) -> Sentence | None:
        """The sentence with its grade; None if it is not shown."""
        text, sentences = bare_sentence(sentence.text), explanation.sentences
        # A step found in the book's answer still belongs to the model's steps.
        is_item = bool(_ITEM.match(sentence.text))
        said = [] if is_item else [*explanation.above[:1], *(one.text for one in sentences)]
        if _FRAGMENT.match(text) or adds_nothing(text, said):
            return None
        if text.startswith((SO_FAR, MARKED, ASKED)):
            explanation.is_reduced = True
            return None
        if sentence.own:
            evidence = "\n".join(evidence_of(section) for _, section in prompt.sections)
            allowed = self._settings.own_words and self.ability.own_words and not plan.guarded
            fits = sum(one.support == "own" for one in sentences) < MOST_OWN and bool(sentences)
            if allowed and fits and may_be_own(text, evidence, plan.query.text):
                return Sentence(text=text, support="own")
            explanation.is_reduced = True
            return None
        grade = await self._grader.grade(sentence, prompt.sections, plan.query.text, answers=yes, sums=explanation.sums)
        copied = any(is_copy(text, section) for _, section in prompt.sections)
        is_idle = copied and (len(text.split()) < LEAST_COPIED_WORDS or stands_in(text, explanation.above))
        if grade.level == "dropped" or (is_idle and not is_item):
            explanation.is_reduced = True
            return None
        explanation.own_words = explanation.own_words or not copied
        explanation.sums += [one.text for one in calculations(text)]
        cited = [(number, section) for number, section in prompt.sections if number in grade.citations]
        for number, section in cited:
            if (unit := await self._grader.rests_on(text, section)) is not None:
                explanation.proofs.setdefault(number, set()).add(unit.char_start)
        recognized = any(section.chunk.recognized for _, section in cited)
        return Sentence(text=grade.text, citations=grade.citations, support="likely" if recognized else grade.level)


@dataclass(slots=True)
class ModelWork:
    """The model's work for one answer; with a plan alone, none."""

    plan: Plan
    """The plan of what it reads, as the reader found it."""
    explainer: Explainer | None = None
    prompts: Sequence[Prompt] = ()
    forecast: Estimate | None = None
    is_fast: bool = False
    """Whether it starts unasked: it is likely to speak before the reader has read a word."""
    offers: bool = False
    """Whether it starts only on request."""
    yes: "asyncio.Task[Judgement | None] | None" = None
    explanation: Explanation = field(default_factory=Explanation)

    @property
    def model(self) -> str:
        """Name of the model; empty if none is asked."""
        return self.explainer.name if self.explainer is not None else ""

    @property
    def judges(self) -> bool:
        """Whether the model's yes could lift a refusal."""
        return self.explainer is not None and self.explainer.ability.judges

    @property
    def runs(self) -> bool:
        """Whether it has started."""
        return self.yes is not None

    @property
    def eta_s(self) -> float | None:
        """Estimated seconds until its first sentence; None if unknown."""
        return round(self.forecast.first_s, 1) if self.forecast is not None else None

    @property
    def judged(self) -> Judgement | None:
        """Its judgement of whether the sections answer, if known."""
        return self.yes.result() if self.yes is not None and self.yes.done() and not self.yes.cancelled() else None

    @property
    def verdict(self) -> Verdict:
        """Whether the book answers, by the model's judgement too if it is there, unless the plan is sure already."""
        plan, judged = self.plan, self.judged
        return plan.verdict if judged is None or plan.is_sure else load_decisions().verdict(plan.odds, *judged)

    async def wait_for_yes(self, most_s: float | None) -> None:
        """Wait for its yes or no; None: as long as the question may take."""
        if self.yes is not None:
            await asyncio.wait({self.yes}, timeout=most_s)

    async def sentences(self, started: float) -> AsyncGenerator[QueuedEvent | WorkingEvent | Sentence, None]:
        """Its sentences for each of the prompts, and progress."""
        if self.explainer is None or self.yes is None:
            return
        for prompt in self.prompts:
            stream = self.explainer.sentences(self.plan, prompt, started, self.explanation, self.yes)
            async with aclosing(stream) as items:
                async for item in items:
                    yield item

    def note_wait(self, took_s: float) -> None:
        """Record how long the first sentence took, or the notice that there is none."""
        if self.explainer is not None:
            self.explainer.note_wait(self.forecast, took_s)

    def close(self) -> None:
        """Cancel the question to the model."""
        if self.yes is not None:
            self.yes.cancel()


class Feed:
    """Reads a stream in its own task, so that a caller can check whether the first item has come."""

    def __init__(self, source: AsyncGenerator[QueuedEvent | WorkingEvent | Sentence, None]) -> None:
        self._items: asyncio.Queue[QueuedEvent | WorkingEvent | Sentence | None] = asyncio.Queue()
        self._spoke = asyncio.Event()
        self._task = asyncio.create_task(self._read(source))

    async def _read(self, source: AsyncGenerator[QueuedEvent | WorkingEvent | Sentence, None]) -> None:
        try:
            async with aclosing(source) as items:
                async for item in items:
                    self._items.put_nowait(item)
                    if isinstance(item, Sentence):
                        self._spoke.set()
        finally:
            self._spoke.set()
            self._items.put_nowait(None)

    async def begins(self, within_s: float) -> bool:
        """Whether a sentence arrives within this many seconds, or the stream ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._spoke.wait()
        return self._spoke.is_set()

    async def __aiter__(self) -> AsyncIterator[QueuedEvent | WorkingEvent | Sentence]:
        """Yield the items; raise the stream's errors."""
        while (item := await self._items.get()) is not None:
            yield item
        await self._task

    async def close(self) -> None:
        """Stop reading."""
        self._task.cancel()
        await asyncio.wait({self._task})


def adds_nothing(text: str, earlier: Sequence[str]) -> bool:
    """Whether a sentence only repeats shown text: its words, or everything that it names, without a new negation."""
    if stands_in(text, earlier):
        return True
    stems, earlier_text = stem_set(text), " ".join(earlier)
    denials, denied = (NEGATIONS.intersection(words(one.lower())) for one in (text, earlier_text))
    return bool(stems) and stems <= stem_set(earlier_text) and denials <= denied


class SentenceStream:
    """Splits a stream of text into whole sentences with their log probabilities; skips thoughts.

    Sentences below the line that announces the model's own words are marked as its own.
    """

    def __init__(self) -> None:
        self._text = ""
        self._used = 0
        self._logprobs: list[float] = []
        """Log probabilities of the pieces since the last sentence."""
        self._own = False

    @property
    def pending(self) -> str:
        """The sentence in progress."""
        return _BEGUN.sub("", _THOUGHT.sub("", self._text))[self._used :].strip()

    def feed(self, piece: str, logprob: float | None = None) -> list[RawSentence]:
        """Return the sentences that are now complete. A sentence is complete once the next one begins."""
        self._text += piece
        self._logprobs.append(logprob or 0.0)
        pending = _BEGUN.sub("", _THOUGHT.sub("", self._text))[self._used :]
        ranges = _ranges(pending)
        if len(ranges) <= 1:
            return []
        self._used += ranges[-1][0]
        return list(self._sentences(pending[start:end] for start, end in ranges[:-1]))

    def finish(self) -> list[RawSentence]:
        """Return the rest after the model has stopped by itself, adding a missing full stop."""
        pending = _THOUGHT.sub("", self._text)[self._used :]
        rest = [pending[start:end] for start, end in _ranges(pending)]
        whole = (text if text.endswith(_ENDS) else f"{text}." for text in rest if any(map(str.isalnum, text)))
        return list(self._sentences(whole))

    def _sentences(self, texts: Iterable[str]) -> Iterator[RawSentence]:
        """Sentences; the first gets the log probabilities of the pieces since the last one."""
        for text in texts:
            _, mark, rest = text.partition(OWN_WORDS)
            self._own = self._own or bool(mark)
            bare = rest.strip(" *_\n") if mark else text
            logprobs, self._logprobs = self._logprobs, []
            if bare.strip():
                mean = sum(logprobs) / max(1, len(logprobs))
                yield RawSentence(bare, mean, min(logprobs, default=0.0), own=self._own)


def _ranges(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence: a list item begins one, the end of a code block ends one."""
    blocks = [match.span() for match in _FENCE.finditer(text)]
    items = [
        match.span() for match in _ITEM.finditer(text) if not any(start < match.start() < end for start, end in blocks)
    ]
    spans = [match.span() for match in _CODE.finditer(text)]
    protected = sorted([*blocks, *items, *(one for one in spans if not any(a <= one[0] < b for a, b in blocks))])
    cuts = sorted({0, *(start for start, _ in items), *(end for _, end in blocks), len(text)})
    ranges: list[tuple[int, int]] = []
    for begin, stop in pairwise(cuts):
        own = [(start - begin, end - begin) for start, end in protected if begin <= start and end <= stop]
        ranges += [(begin + start, begin + end) for start, end in sentence_ranges(text[begin:stop], own)]
    return ranges


async def sentences_of(
    generator: Generator, request: GenerationRequest, stops: Callable[[str], bool] = lambda _: False
) -> AsyncGenerator[Queued | Begun | Piece | RawSentence | Finished, None]:
    """Yield the model's sentences as they complete, then how it ended; drop an unfinished one.

    Pass progress on, and of the pieces only the first. Stop the model at a sentence whose beginning `stops` rejects.
    """
    cutter, spoke = SentenceStream(), False
    async with aclosing(timed_stream(generator, request)) as stream:
        async for event in stream:
            match event:
                case Queued() | Begun():
                    yield event
                case Piece():
                    if not spoke:
                        spoke = True
                        yield event
                    for sentence in cutter.feed(event.text, event.logprob):
                        yield sentence
                    if stops(cutter.pending):
                        return
                case Finished():
                    for sentence in cutter.finish() if event.reason == "stop" else ():
                        yield sentence
                    yield event


async def timed_stream(generator: Generator, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
    """Stream a model's answer, timed as two stages: `queue` up to the first word, then `write`.

    Record the end as `model_end`: `stop`, `length`, `deadline`, `cancelled`, `full` or `away`.
    """
    began_s = time.monotonic()
    first_s: float | None = None
    outcome = "cancelled"
    try:
        async with aclosing(generator.stream(request)) as events:
            async for event in events:
                if isinstance(event, Piece) and first_s is None:
                    first_s = time.monotonic()
                elif isinstance(event, Finished):
                    outcome = event.reason
                yield event
    except GeneratorError as error:
        outcome = (
            "full" if isinstance(error, QueueFull) else "deadline" if isinstance(error, DeadlineExceeded) else "away"
        )
        raise
    finally:
        stages.note_time("queue", began_s, first_s)
        if first_s is not None:
            stages.note_time("write", first_s)
        stages.note("model_end", outcome)
