"""Decides what the model computes in each step, so that a whole class is served from two cores.

A step holds one token for each answer in progress, plus guesses at the next tokens if these pay (the model often
repeats text of its prompt). It also holds a bounded number of newcomers' prompt tokens: first those whose passage has
been read, then passages, each by arrival. The common beginning of two prompts is computed once: the later prompt waits
until the earlier one has computed it, and copies it. The stable beginning of a prompt, a passage of the book, comes
from the store if it was read before, and is stored otherwise. While idle, one core reads likely passages. The scheduler
is pure: the model is behind `Decoder`, and the clock is an argument.
"""

import codecs
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby, pairwise
from math import exp
from typing import Literal

import msgspec

from lutrin.errors import GeneratorUnavailable
from lutrin.fairness import FairQueue, Lane
from lutrin.generate.forecast import SENTENCE_TOKENS, TAIL_TOKENS, USUAL_TOKENS, PaceFigures, passage_key
from lutrin.generate.head import Head
from lutrin.generate.outlook import Ahead, Room, first_sentences
from lutrin.generate.prefix import PassageLimits, PassageStore, PrefixTree, common_length
from lutrin.ports import Decoder, TokenRun
from lutrin.records import Begun, Finished, GenerationRequest, Message, Piece, Queued

LOOP_TOKENS = 24
LONGEST_PERIOD = 48
REPEATS = 3


class TextStream:
    """Text of one answer as it grows; holds back a possible beginning of a stop string.

    Args:
        stop: The text ends before the first of these to be complete, wherever the pieces are cut. If two end together,
            it ends before the longer one.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self.stopped = False
        self._stop = tuple(text for text in stop if text)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._tail = ""

    def feed(self, piece: bytes) -> str:
        """Add a token's bytes; return the text that is certain now (possibly none)."""
        return self._release(self._decoder.decode(piece))

    def finish(self) -> str:
        """The text held back; a character cut in the middle becomes U+FFFD."""
        if self.stopped:
            return ""
        text = self._release(self._decoder.decode(b"", final=True))
        text, self._tail = text + self._tail, ""
        return text

    def _release(self, text: str) -> str:
        if self.stopped:
            return ""
        text = self._tail + text
        ends = [(at + len(stop), at) for stop in self._stop if (at := text.find(stop)) >= 0]
        if ends:
            self.stopped, self._tail = True, ""
            return text[: min(ends)[1]]
        keep = max((overlap(text, stop) for stop in self._stop), default=0)
        self._tail = text[len(text) - keep :]
        return text[: len(text) - keep]


def overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that is a beginning of `stop`, but not all of it."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


def loops(tokens: Sequence[int]) -> bool:
    """Whether the answer has begun to repeat itself word for word.

    True if it ends in the same stretch of at most 48 tokens three times in a row, 24 tokens or more in all. That is
    longer than any list or table row that a book's answer repeats.
    """
    for period in range(1, LONGEST_PERIOD + 1):
        repeats = max(REPEATS, -(-LOOP_TOKENS // period))
        length = period * repeats
        if len(tokens) < length:
            continue
        tail = tokens[-length:]
        if tail[period:] == tail[:-period]:
            return True
    return False


Encode = Callable[[Sequence[Message], int], tuple[list[int], int]]

BREAK = "\n\n"


def fit_prompt(
    messages: Sequence[Message], stable_chars: int, budget_tokens: int, encode: Encode
) -> tuple[tuple[int, ...], int]:
    """Tokens of a prompt, at most `budget_tokens`, and how many of them are stable (0 for a shortened prompt).

    The longest message loses whole paragraphs, from the last but one backwards. Its last paragraph is the question and
    stays; its first ones are shared with other prompts. If single paragraphs are still too long, tokens in the middle
    are dropped.
    """
    tokens, stable = encode(messages, stable_chars)
    if len(tokens) <= budget_tokens:
        return tuple(tokens), stable
    tokens = _without_paragraphs(messages, budget_tokens, lambda shorter: encode(shorter, 0)[0], tokens)
    if len(tokens) <= budget_tokens:
        return tuple(tokens), 0
    head = budget_tokens // 2
    return (*tokens[:head], *tokens[len(tokens) - (budget_tokens - head) :]), 0


def _without_paragraphs(
    messages: Sequence[Message], budget_tokens: int, encode: Callable[[Sequence[Message]], list[int]], tokens: list[int]
) -> list[int]:
    longest = max(range(len(messages)), key=lambda i: len(messages[i].content))
    paragraphs = messages[longest].content.split(BREAK)
    # Find by bisection how many paragraphs before the last one fit: the token count grows with them.
    low, high = 0, len(paragraphs) - 1
    fitted = encode(_replace(messages, longest, paragraphs[-1:])) if high else tokens
    low += 1
    while low < high:
        middle = (low + high) // 2
        tokens = encode(_replace(messages, longest, [*paragraphs[:middle], paragraphs[-1]]))
        if len(tokens) <= budget_tokens:
            fitted, low = tokens, middle + 1
        else:
            high = middle
    return fitted


def _replace(messages: Sequence[Message], index: int, paragraphs: Sequence[str]) -> list[Message]:
    shorter = msgspec.structs.replace(messages[index], content=BREAK.join(paragraphs))
    return [*messages[:index], shorter, *messages[index + 1 :]]


NEWEST = 0.2
"""Weight of the newest answer in the mean length."""
MEMORY_S = 5.0
"""Seconds of computing after which an earlier pace counts 1/e: other programs come and go within moments."""
CLEAR_PREFILL = 16
"""Fewer prompt tokens than this say little about the speed of prefill."""
LONGEST_STEP_S = 3.0
"""Bounds the prompt tokens of one step: others wait for it, and a process that is silent for long counts as stuck."""
ROW = 2.5
"""Cost of one more row of a decoding step, in prompt tokens: it needs the vocabulary's matrix (docs/decisions/0010)."""
LIKELY = 0.5
"""Assumed share of right guesses before any was tried."""
TRIED = 0.05
"""Weight of each guess in the running mean of those that were right."""
FORGOTTEN = 0.002
"""Weight with which each step draws that mean back to LIKELY, so that guessing is tried again."""


class Pace:
    """Running means of the cost of a prompt token and of a decoding step, in seconds.

    Until the first measurement, everything costs nothing: no request is refused on a guess.
    """

    def __init__(self) -> None:
        self.prefill_s = 0.0
        """Seconds for each token of a prompt."""
        self.right = LIKELY
        """Share of guessed tokens that the model would have chosen."""
        self.length = float(USUAL_TOKENS)
        """Tokens of an answer."""
        self._decode_s: dict[int, float] = {}

    def observe(self, prefill: int, decoding: int, seconds: float) -> None:
        """Learn from one step.

        Args:
            prefill: Prompt tokens in it.
            decoding: Rows of answers in it: one for each token and for each guess.
            seconds: How long it took.
        """
        self.right += FORGOTTEN * (LIKELY - self.right)
        weight = 1 - exp(-seconds / MEMORY_S)
        if prefill >= CLEAR_PREFILL:
            cost = seconds / (prefill + ROW * decoding)
            self.prefill_s = cost if self.prefill_s == 0.0 else self.prefill_s + weight * (cost - self.prefill_s)
        elif prefill == 0 and decoding:
            estimate = self._decode_s.get(decoding, seconds)
            self._decode_s[decoding] = estimate + weight * (seconds - estimate)

    def note_length(self, tokens: int) -> None:
        """Learn from an answer that has ended, or was stopped as a copy."""
        self.length += NEWEST * (tokens - self.length)

    def note_guess(self, *, right: bool) -> None:
        """Learn from a guess."""
        self.right += TRIED * (right - self.right)

    def mixed_s(self, prefill: float, answers: int) -> float:
        """Seconds for a step that reads prompt tokens and writes one token of each of `answers`."""
        return (prefill + ROW * answers) * self.prefill_s

    def prompt_tokens(self, most: int) -> int:
        """Prompt tokens to read in one step: `most`, or fewer on a slow machine and until its speed is known."""
        fitting = int(LONGEST_STEP_S / self.prefill_s) if self.prefill_s else 0
        return min(most, max(CLEAR_PREFILL, fitting))

    def guesses(self, answers: int, most: int) -> int:
        """Tokens to guess for each answer so that a token costs least; 0 if guessing does not pay."""
        return min(range(most + 1), key=lambda number: (self._token_s(answers, number), number))

    def token_s(self, answers: int, most: int) -> float:
        """Seconds for one token of each of `answers`, with as many guesses as pay."""
        return min(self._token_s(answers, number) for number in range(most + 1))

    def _token_s(self, answers: int, guesses: int) -> float:
        """Tokens a step: a guess counts if all before it were right, 1 + r + r^2 + ... (Leviathan et al. 2023)."""
        return self.decode_s(answers * (1 + guesses)) / sum(self.right**place for place in range(guesses + 1))

    def decode_s(self, decoding: int) -> float:
        """Seconds for a step with `decoding` rows, each an answer's last token or a guess at its next ones.

        Between two measured numbers of rows the time is interpolated. Beyond the largest it grows by `ROW`; below the
        smallest it stays the same.
        """
        if not self._decode_s or decoding <= 0:
            return 0.0
        sizes = sorted(self._decode_s)
        if decoding <= sizes[0]:
            return self._decode_s[sizes[0]]
        for low, high in pairwise(sizes):
            if decoding <= high:
                share = (decoding - low) / (high - low)
                return self._decode_s[low] + share * (self._decode_s[high] - self._decode_s[low])
        return self._decode_s[sizes[-1]] + (decoding - sizes[-1]) * ROW * self.prefill_s

    def answer_s(self, prompt_tokens: int, tokens: int, decoding: int, guesses: int = 0) -> float:
        """Seconds to compute `prompt_tokens`, then `tokens` for each of `decoding` answers, with `guesses` at most."""
        return prompt_tokens * self.prefill_s + tokens * self.token_s(decoding, guesses)


UNHEARD = "unheard"
"""Key of a passage without questions."""
WARMING = -1
"""Id of the job without a reader."""
MOST_WARM = 200
"""Requests waiting to be warmed; older ones are dropped."""
WARM_STEP_S = 0.25
"""Seconds of one warming step, so short that an arriving reader hardly waits."""
WARM_STEP_TOKENS = (4, 32)
"""Least and most tokens of such a step: one pass of the kernels, and no more than the measured pace covers."""
OTHERWISE, OTHERWISE_S = 0.5, 2.0
"""A new estimate is sent if it differs from the last by this share plus this many seconds."""
PROBE_TOKENS, PROBE_STEPS = CLEAR_PREFILL, 2
"""Prompt tokens and single-token steps that a probe computes: half a second on a slow machine."""
Choice = tuple[int, int]
"""A token, and the output of the step that chose it."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the scheduler."""

    slots: int = 10
    """Answers that get a token in each step."""
    queue: int = 64
    """Requests that may wait for a slot."""
    prefill_tokens: int = 128
    """Prompt tokens in one step: they bound how much a newcomer delays the others."""
    retained_tokens: int = 4096
    """Tokens of finished prompts that are kept for later ones with the same beginning."""
    worth_tokens: int = 48
    """About two sentences: an answer that cannot get this far before its deadline is not started."""
    guesses: int = 3
    """Most tokens to guess for each answer, from the continuation of the same words in its prompt."""


class PassageFigures(msgspec.Struct, frozen=True, array_like=True):
    """Counts of the store of passages since the model was loaded, and its size."""

    hits: int = 0
    """Prompts whose passage had been read before, or was just being read for another reader."""
    misses: int = 0
    """Prompts that had to have their passage read."""
    tokens_read: int = 0
    """Prompt tokens computed."""
    tokens_saved: int = 0
    """Prompt tokens taken from earlier computations."""
    seconds_saved: float = 0.0
    """Their cost if computed."""
    memory_bytes: int = 0
    disk_bytes: int = 0


class Rejection(msgspec.Struct, frozen=True, tag="refused"):
    """The last message for a request that gets no (further) answer."""

    reason: Literal["queue_full", "deadline", "unavailable"]


class Output(msgspec.Struct, frozen=True, array_like=True):
    """A message for one reader; `Finished` and `Rejection` are the last."""

    id: int
    event: Queued | Begun | Piece | Finished | Rejection


@dataclass(slots=True, eq=False)
class Job:
    """One reader's answer in progress."""

    id: int
    request: GenerationRequest
    lane: Lane
    prompt: tuple[int, ...]
    max_tokens: int
    deadline: float
    text: TextStream
    between: tuple[str, str] | None = None
    key: tuple[int, ...] = ()
    """The prompt as a key of the prefix tree."""
    stable: int = 0
    """Tokens of the book at the beginning of the prompt."""
    passage: str = ""
    """Their `passage_key`; empty if there are none."""
    state: str = ""
    """Their key in the store; empty if the store has, or will have, nothing of this prompt."""
    sequence: int = -1
    cells: int = 0
    """Tokens of prompt and answer that the model has computed, each in a cell of its memory."""
    ahead: "list[tuple[Job, int]]" = field(default_factory=list)
    """Jobs that compute tokens for this one to copy, and how many."""
    generated: list[int] = field(default_factory=list)
    logprob: float = 0.0
    """Log probability of the answer so far."""
    told_logprob: float = 0.0
    """The part of it whose text has been sent to the reader."""
    position: int = 0
    """Last queue position sent to the reader; 0: the job has started."""
    due: float = 0.0
    """Time of the first sentence as last sent to the reader; 0: none was sent."""
    spoke: bool = False

    @property
    def to_prefill(self) -> int:
        """Prompt tokens that the model has not yet computed."""
        return max(0, len(self.prompt) - self.cells)

    @property
    def to_compute(self) -> int:
        """The part of them that no other job is about to compute."""
        return max(0, len(self.prompt) - max([self.cells, *(shared for _, shared in self.ahead)]))


class Scheduler:
    """Admits, orders and batches requests over one decoder; deadlines use its clock (seconds, monotonic).

    Idle reading stops once `interrupted` is true: a reader may be waiting.
    """

    def __init__(
        self,
        decoder: Decoder,
        limits: Limits,
        clock: Callable[[], float],
        store: PassageStore | None = None,
        *,
        head: Head | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.pace = Pace()
        self.failures = 0
        self._decoder = decoder
        for rows, seconds in decoder.step_seconds.items():
            self.pace.observe(0, rows, seconds)
        # A recurrent or hybrid model cannot take back a wrong guess.
        self._limits = limits if decoder.shares else msgspec.structs.replace(limits, guesses=0)
        self._clock = clock
        self._slots = min(limits.slots, decoder.sequences, decoder.step_tokens)
        # An exact repeat computes its last token anew, so a held sequence can take one cell more than the tree counts;
        # without sharing, the tree counts one more for each.
        self._cells = decoder.context_tokens - decoder.sequences
        self._tree = PrefixTree()
        self._prompt_lengths: dict[int, int] = {}
        self._free = list(range(decoder.sequences))
        self._queue: FairQueue[Job] = FairQueue()
        self._running: list[Job] = []
        self._jobs: dict[int, Job] = {}
        self._outputs: list[Output] = []
        self._store = store or PassageStore(PassageLimits(), "")
        self._warm: deque[GenerationRequest] = deque(maxlen=MOST_WARM)
        self._warm_token_s = 0.0
        self._interrupted = interrupted
        self._head = head
        self._measured_s = clock()
        self._probes = False
        self.unread: dict[str, int] = {}
        """Unread tokens of passages since this was last emptied, by `passage_key`."""
        self._hits = self._misses = self._read = self._saved = 0
        self._saved_s = 0.0

    @property
    def figures(self) -> PassageFigures:
        """Counts of the store of passages."""
        return PassageFigures(
            self._hits,
            self._misses,
            self._read,
            self._saved,
            round(self._saved_s, 3),
            self._store.memory_bytes,
            self._store.disk_bytes,
        )

    @property
    def running(self) -> int:
        """Answers in progress."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Readers in the queue."""
        return len(self._queue)

    @property
    def pace_figures(self) -> PaceFigures:
        """Work before a request that arrived now, and the speed at which it would be served."""
        read, unread = (Ahead(name, TAIL_TOKENS, SENTENCE_TOKENS, self.pace.length) for name in ("", UNHEARD))
        order = self._queue_order()
        *seconds, first_s = self._outlook(order, read)
        others = (job.passage if job.between is None and job.to_prefill else "" for job in (*self._running, *order))
        return PaceFigures(
            prefill_s=self.pace.prefill_s,
            token_s=self.pace.token_s(min(self._slots, len(self._jobs) + 1), self._limits.guesses),
            crowd_token_s=self.pace.token_s(self._slots, self._limits.guesses) / self._slots,
            first_s=first_s,
            unread_s=self._outlook(order, unread)[-1] if order else first_s,
            passages_s={name: last_s for last_s, name in sorted(zip(seconds, others, strict=True)) if name},
            length=self.pace.length,
            measured_s=self._measured_s,
        )

    def probe(self) -> None:
        """Measure the pace while idle: the machine may have become busy, or quiet again."""
        self._probes = True

    @property
    def busy(self) -> bool:
        """Whether `step` has anything to compute, to report or to write."""
        return bool(self._jobs or self._outputs or self._warm or self._store.unwritten or self._probes)

    def submit(self, id_: int, request: GenerationRequest, deadline: float) -> None:
        """Queue a request, cutting a prompt that is too long; `step` reports its results."""
        if len(self._queue) >= self._limits.queue + self._slots - len(self._running):
            crowding = self._queue.crowding(request.peer)
            if crowding is None:
                self._say(id_, Rejection("queue_full"))
                return
            self._end(crowding, Rejection("queue_full"))
        job = self._job(id_, request, deadline)
        if not job.prompt:
            self._say(id_, Finished("stop", 0, 0))
            return
        self._jobs[id_] = job
        self._queue.push(job.lane, job)

    def _job(self, id_: int, request: GenerationRequest, deadline: float) -> Job:
        longest = min(self._decoder.window_tokens, self._cells)
        max_tokens = max(1, min(request.max_tokens, longest // 2))
        # Text before the last message is the book's only if it consists of rules.
        of_book = all(message.role == "system" for message in request.messages[:-1])
        prompt, stable = fit_prompt(
            request.messages, request.stable_chars if of_book else 0, longest - max_tokens, self._decoder.encode
        )
        # A reader without a session counts as a session, not as part of a common one.
        lane = Lane(request.peer, request.session_id or f"\0{id_}")
        state = self._store.key(prompt[:stable]) if stable and self._decoder.state_kind else ""
        text, passage = TextStream(request.stop), passage_key(request) if stable else ""
        return Job(
            id_, request, lane, prompt, max_tokens, deadline, text, request.between, prompt, stable, passage, state
        )

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Read the stable beginnings of prompts while idle: these first, then those of earlier calls."""
        if self._decoder.state_kind:
            self._warm = deque([*requests, *self._warm][:MOST_WARM])

    def cancel(self, id_: int) -> None:
        """Drop a request in any state; the next step no longer computes it. Unknown ids are ignored."""
        if (job := self._jobs.get(id_)) is not None:
            if job.generated:
                self.pace.note_length(len(job.generated))
            self._end(job, Finished("cancelled", len(job.prompt), len(job.generated)))

    def tell(self) -> list[Output]:
        """Admit as many jobs as fit; return messages to send before anything is computed."""
        self._expire()
        self._admit()
        self._tell_estimates()
        return self._taken()

    def compute(self) -> list[Output]:
        """Compute one step; return its messages to readers, in order."""
        planned = self._plan()
        if planned:
            self._compute(planned)
        elif not self._jobs:
            self._use_quiet()
        return self._taken()

    def step(self) -> list[Output]:
        """Tell, then compute."""
        return [*self.tell(), *self.compute()]

    def _taken(self) -> list[Output]:
        outputs, self._outputs = self._outputs, []
        return outputs

    def _expire(self) -> None:
        now = self._clock()
        for job in [job for job in self._jobs.values() if job.deadline <= now]:
            self._run_out(job)

    def _run_out(self, job: Job) -> None:
        if job.spoke:
            self._finish(job, "deadline")
        else:
            self._end(job, Rejection("deadline"))

    def _admit(self) -> None:
        while len(self._queue) and len(self._running) < self._slots:
            job = self._queue_order()[0]
            # A lone request is always tried. Otherwise one slow moment would rule it out forever.
            if self._running and not self._in_time(job, self._running):
                if self._in_time(job, ()):
                    # A running answer may end soon enough. Until then the readers behind it wait, too.
                    break
                self._end(job, Rejection("deadline"))
            elif not self._delays(job) and self._make_room(job):
                self._queue.take(job.lane, job)
                self._begin(job)
            else:
                break

    def _queue_order(self) -> list[Job]:
        """Waiting jobs: first those whose passage has been read, each by turn.

        A passage must be used before the next one is read: otherwise all passages are read, and no answer meets its
        deadline.
        """
        return sorted(self._queue.order(), key=lambda job: not self._is_read(job))

    def _is_read(self, job: Job) -> bool:
        """Whether a job's passage has been read, or is being read for another one."""
        return self._to_read(job) <= len(job.prompt) - job.stable

    def _in_time(self, job: Job, others: Sequence[Job]) -> bool:
        """Whether a job that starts now, beside these others, can write something worth reading by its deadline."""
        prefill = sum(other.to_compute for other in others) + self._to_read(job)
        return self._ready_at(job, prefill, len(others) + 1) <= job.deadline

    def _delays(self, job: Job) -> bool:
        """Whether starting this job now would make a running answer miss its deadline."""
        prefill, running = sum(other.to_compute for other in self._running), len(self._running)
        more = prefill + self._to_read(job)
        return any(
            self._ready_at(other, prefill, running) <= other.deadline < self._ready_at(other, more, running + 1)
            for other in self._running
        )

    def _ready_at(self, job: Job, prefill: int, answers: int) -> float:
        """When a job will have written something worth reading, after some prompt tokens, beside other answers.

        A request for odds is followed by an answer from the same passage.
        """
        most = job.max_tokens if job.between is None else self._limits.worth_tokens
        tokens = max(0, min(self._limits.worth_tokens, most) - len(job.generated))
        return self._clock() + self.pace.answer_s(prefill, tokens, answers, self._limits.guesses)

    def _to_read(self, job: Job) -> int:
        missing = self._tree.missing(job.key)
        return min(missing, len(job.prompt) - job.stable) if job.state and job.state in self._store else missing

    def _make_room(self, job: Job) -> bool:
        """Free cells and a sequence for a job; return False if it must wait for running answers."""
        reserved = sum(other.max_tokens for other in self._running) + job.max_tokens
        source, _ = self._tree.match(job.key, self._prompt_length)
        if source is not None:
            self._tree.touch(source)
        while not self._free or self._tree.size + self._tree.missing(job.key) + reserved > self._cells:
            if not self._evict():
                return False
        return True

    def _evict(self) -> bool:
        sequence = self._tree.evict()
        if sequence is None:
            return False
        self._release(sequence)
        return True

    def _release(self, sequence: int) -> None:
        self._decoder.forget(sequence)
        self._prompt_lengths.pop(sequence, None)
        self._free.append(sequence)

    def _prompt_length(self, sequence: int) -> int:
        return self._prompt_lengths.get(sequence, 0)

    def _begin(self, job: Job) -> None:
        job.sequence = self._free.pop()
        if self._decoder.shares:
            last = len(job.prompt) - 1
            for other in self._running:
                shared = min(common_length(other.prompt, job.prompt), last)
                if other.cells < shared:
                    job.ahead.append((other, shared))
            self._copy_common_prefix(job)
            self._restore(job)
            if job.stable:
                is_hit = max([job.cells, *(count for _, count in job.ahead)]) >= job.stable or job.state in self._store
                self._hits, self._misses = self._hits + is_hit, self._misses + (not is_hit)
        else:
            job.key = (-1 - job.sequence, *job.prompt)
        self._tree.insert(job.sequence, job.key)
        self._running.append(job)

    def _copy_common_prefix(self, job: Job) -> None:
        """Copy the tokens of a prompt that other sequences hold; its last token is always computed, for its logits."""
        source, length = self._tree.match(job.prompt, self._prompt_length)
        length = min(length, len(job.prompt) - 1)
        if source is not None and length > job.cells:
            self._decoder.copy(source, job.sequence, job.cells, length)
            self._tree.touch(source)
            self._hold(job, length)

    def _restore(self, job: Job) -> None:
        """Take the stable beginning of a prompt from the store, if it has it.

        Tokens that another job is about to compute must be copied first: the tree counts their cells once.
        """
        is_due = job.state and job.cells < job.stable and not job.ahead
        state = self._store.get(job.state) if is_due else None
        if state is None:
            return
        if self._decoder.restore(state, job.sequence, job.cells, job.stable):
            self._hold(job, job.stable)
        else:
            self._store.drop(job.state)

    def _hold(self, job: Job, length: int) -> None:
        """Record that a sequence now holds this many tokens, without computing the new ones."""
        if job.id != WARMING:
            self._saved += length - job.cells
            self._saved_s += (length - job.cells) * self.pace.prefill_s
        job.cells = self._prompt_lengths[job.sequence] = length

    def _keep(self, job: Job) -> None:
        if job.stable:
            self.unread[job.passage] = max(0, job.stable - job.cells)
        if job.state and job.cells >= job.stable and job.state not in self._store:
            self._store.put(job.state, self._decoder.save(job.sequence, job.stable))

    def _plan(self) -> list[tuple[Job, TokenRun]]:
        """Plan the next step: a token and guesses for each answer, then prompts by arrival, within the budget."""
        writing = [job for job in self._running if not job.to_prefill]
        fitting = self._decoder.step_tokens // max(1, len(writing)) - 1
        guesses = self.pace.guesses(len(writing), min(self._limits.guesses, fitting))
        planned = [
            (job, TokenRun(job.sequence, job.cells + place, (token,), wanted=True))
            for job in writing
            for place, token in enumerate((job.generated[-1], *self._guess(job, guesses)))
        ]
        most = self.pace.prompt_tokens(self._limits.prefill_tokens)
        budget = min(most, self._decoder.step_tokens - len(planned))
        for job in sorted(self._running, key=lambda job: job.cells < job.stable):
            if budget <= 0:
                break
            if not job.to_prefill or self._follows(job):
                continue
            # A passage ends with its step, so that the rest is computed as after a stored passage.
            end = job.stable if job.cells < job.stable else len(job.prompt)
            tokens = job.prompt[job.cells : min(end, job.cells + budget)]
            planned.append((job, TokenRun(job.sequence, job.cells, tokens, wanted=len(tokens) == job.to_prefill)))
            budget -= len(tokens)
        return planned

    def _guess(self, job: Job, number: int) -> tuple[int, ...]:
        """Guess the next tokens: those that followed the answer's last two tokens (or its only one) in its prompt."""
        number = min(number, job.max_tokens - len(job.generated) - 1)
        last = tuple(job.generated[-2:])
        for start in range(len(job.prompt) - len(last) - 1, -1, -1) if number > 0 else ():
            if job.prompt[start : start + len(last)] == last:
                return job.prompt[start + len(last) : start + len(last) + number]
        return ()

    def _follows(self, job: Job) -> bool:
        """Copy what this job can copy now; return whether another job is computing more for it to copy soon."""
        if not job.ahead:
            return False
        self._copy_common_prefix(job)
        job.ahead = [
            (other, shared)
            for other, shared in job.ahead
            if other.id in self._jobs and shared > job.cells and other.cells < shared
        ]
        self._restore(job)
        return bool(job.ahead)

    def _compute(self, planned: Sequence[tuple[Job, TokenRun]]) -> None:
        began = self._clock()
        try:
            tokens = self._decoder.step([run for _, run in planned])
        except GeneratorUnavailable:
            self.failures += 1
            self._lose_all()
            return
        self.failures = 0
        decoding = sum(1 for job, _ in planned if not job.to_prefill)
        prefill = sum(len(run.tokens) for job, run in planned if job.to_prefill)
        self._read += prefill
        self._measured_s = self._clock()
        self.pace.observe(prefill, decoding, self._measured_s - began)
        self._weigh([job for job, run in planned if run.wanted])
        outputs = count()
        computed = [
            (job, run, None if token is None else (token, next(outputs)))
            for (job, run), token in zip(planned, tokens, strict=True)
        ]
        for job, runs in groupby(computed, key=lambda item: item[0]):
            if job.id in self._jobs:
                self._advance(job, [(run, choice) for _, run, choice in runs])

    def _weigh(self, jobs: Sequence[Job]) -> None:
        """End a step's jobs that only ask for the odds of two words."""
        for output, job in enumerate(jobs):
            if job.between is not None:
                job.cells = self._prompt_lengths[job.sequence] = len(job.prompt)
                odds = self._decoder.odds(output, job.between)
                self._end(job, Finished("stop", len(job.prompt), 0, odds, head=self._head_odds(job)))

    def _head_odds(self, job: Job) -> float | None:
        """Log odds of the model's head after the last token of a prompt."""
        values = self._decoder.values(job.sequence, len(job.prompt) - 1) if self._head is not None else None
        return None if self._head is None or values is None else self._head.odds(values)

    def _advance(self, job: Job, computed: Sequence[tuple[TokenRun, Choice | None]]) -> None:
        """Take the model's choice after each of an answer's tokens, as long as the guesses before it were right."""
        first, choice = computed[0]
        job.cells += len(first.tokens)
        choices = [choice] if choice is not None else []
        for (_, chosen), (run, following) in pairwise(computed):
            right = chosen is not None and run.tokens[0] == chosen[0]
            self.pace.note_guess(right=right)
            if not right:
                self._decoder.forget(job.sequence, job.cells)
                break
            job.cells += 1
            choices += [following] if following is not None else []
        self._prompt_lengths[job.sequence] = min(job.cells, len(job.prompt))
        if not job.generated:
            self._keep(job)
        for token, output in choices:
            if job.id in self._jobs:
                self._take(job, token, output)

    def _take(self, job: Job, token: int, output: int) -> None:
        """Add the model's token to an answer: the choice of one output of the step."""
        if self._decoder.ends(token):
            self._finish(job, "stop")
            return
        job.generated.append(token)
        job.logprob += self._decoder.logprob(output)
        self._speak(job, job.text.feed(self._decoder.text(token)))
        if job.text.stopped or loops(job.generated):
            self._finish(job, "stop")
        elif len(job.generated) >= job.max_tokens:
            self._finish(job, "length")

    def _use_quiet(self) -> None:
        """While idle: measure, write a state to disk, or else read a little of the next likely passage."""
        if self._probes:
            self._probe()
        elif self._store.unwritten:
            self._store.write()
        elif self._warm and self._warm_up(self._warm[0]):
            self._warm.popleft()

    def _probe(self) -> None:
        """Compute a few tokens as if for a reader, and drop them."""
        self._probes = False
        if not self._free and not self._evict():
            return
        sequence, at = self._free.pop(), 0
        tokens = [0] * PROBE_TOKENS
        try:
            for run in (tokens, *[[0]] * PROBE_STEPS):
                began = self._clock()
                self._decoder.step([TokenRun(sequence, at, run, wanted=len(run) == 1)])
                self._measured_s = self._clock()
                at += len(run)
                prefill = len(run) if len(run) > 1 else 0
                self.pace.observe(prefill, 1 - bool(prefill), self._measured_s - began)
        except GeneratorUnavailable:
            self.failures += 1
            self._lose_all()
        self._decoder.forget(sequence)
        self._free.append(sequence)

    def _warm_up(self, request: GenerationRequest) -> bool:
        """Continue to read the stable beginning of a prompt; return whether that is done, or impossible."""
        job = self._job(WARMING, msgspec.structs.replace(request, max_tokens=1), 0.0)
        job.prompt = job.key = job.prompt[: job.stable]
        # A step's tokens are retained for the next one, so the limit must allow it.
        is_due = job.state and job.stable <= self._limits.retained_tokens and job.state not in self._store
        if not is_due or not self._make_room(job):
            if job.state in self._store:
                self.unread[job.passage] = 0
            return True
        job.sequence = self._free.pop()
        self._copy_common_prefix(job)
        self._tree.insert(job.sequence, job.key)
        least, most = WARM_STEP_TOKENS
        size = min(most, max(least, int(WARM_STEP_S / self._warm_token_s) if self._warm_token_s else least))
        size = min(size, self._limits.prefill_tokens)
        tokens = job.prompt[job.cells : job.cells + size]
        began = self._clock()
        try:
            computed = self._decoder.step(
                [TokenRun(job.sequence, job.cells, tokens, wanted=False)], quietly=self._interrupted
            )
        except GeneratorUnavailable:
            self.failures += 1
            self._warm.clear()
            self._retire(job)
            self._lose_all()
            return False
        if not computed:
            self._decoder.forget(job.sequence, job.cells)
            self._retire(job)
            return False
        self._warm_token_s = (self._clock() - began) / len(tokens)
        self._read += len(tokens)
        job.cells += len(tokens)
        self._prompt_lengths[job.sequence] = job.cells
        self._keep(job)
        self._retire(job)
        return job.cells >= job.stable

    def _lose_all(self) -> None:
        """Empty the model's memory after a failed step: its contents are unknown."""
        for job in list(self._running):
            self._end(job, Rejection("unavailable"))
        while self._evict():
            pass

    def _speak(self, job: Job, text: str) -> None:
        if text:
            job.spoke = True
            self._say(job.id, Piece(text, job.logprob - job.told_logprob))
            job.told_logprob = job.logprob

    def _finish(self, job: Job, reason: Literal["stop", "length", "deadline"]) -> None:
        self._speak(job, job.text.finish())
        tokens = len(job.generated)
        self.pace.note_length(tokens)
        mean = job.logprob / tokens if tokens else None
        self._end(job, Finished(reason, len(job.prompt), tokens, logprob=mean))

    def _end(self, job: Job, last: Finished | Rejection) -> None:
        self._say(job.id, last)
        del self._jobs[job.id]
        if job.state and job.cells < job.stable and job.state not in self._store:
            # Work that was started for a reader who left is finished while idle.
            self._warm.appendleft(job.request)
        if job.sequence < 0:
            self._queue.remove(job.lane, job)
        else:
            self._running.remove(job)
            self._retire(job)

    def _retire(self, job: Job) -> None:
        """Keep the computed part of a prompt for the next one with the same beginning."""
        computed = min(job.cells, len(job.prompt)) if self._decoder.shares else 0
        self._tree.discard(job.sequence)
        if computed == 0:
            self._release(job.sequence)
            return
        self._decoder.forget(job.sequence, computed)
        self._tree.insert(job.sequence, job.prompt[:computed])
        self._tree.retire(job.sequence)
        while self._tree.idle_tokens() > self._limits.retained_tokens and self._evict():
            pass

    def _tell_estimates(self) -> None:
        """Send readers their queue position, or that their passage is being read, with an estimate.

        Send it again when the position changes, or if the estimate proves wrong.
        """
        order = self._queue_order()
        if not any(job.between is None and job.to_prefill for job in (*self._running, *order)):
            return
        now, place = self._clock(), 0
        for job, seconds in zip((*self._running, *order), self._outlook(order), strict=True):
            if job.between is not None or not job.to_prefill:
                continue
            place += job.sequence < 0
            position = place if job.sequence < 0 else 0
            is_otherwise = abs(now + seconds - job.due) > OTHERWISE_S + OTHERWISE * (job.due - now)
            if job.due and position == job.position and not is_otherwise:
                continue
            job.position, job.due, eta_s = position, now + seconds, round(seconds, 3)
            self._say(job.id, Queued(position, eta_s) if position else Begun(job.to_prefill, eta_s))

    def _outlook(self, order: Sequence[Job], *newcomers: Ahead) -> list[float]:
        """Seconds until the first sentence of running jobs, of waiting ones by turn, and of these newcomers."""
        unread: dict[str, float] = {}
        for job in self._running:
            if job.cells < job.stable and job.state not in self._store:
                left = job.stable - max([job.cells, *(min(shared, other.cells) for other, shared in job.ahead)])
                unread[job.passage] = min(left, unread.get(job.passage, left))
        for job in order:
            left = self._to_read(job) - (len(job.prompt) - job.stable)
            if job.stable and left > 0:
                unread.setdefault(job.passage, left)
        unread[UNHEARD] = 1
        room = Room(self._slots, self.pace.prompt_tokens(self._limits.prefill_tokens), self._limits.guesses)
        running, waiting = map(self._left_of, self._running), map(self._left_of, order)
        return first_sentences([*running], [*waiting, *newcomers], unread, room, self.pace)

    def _left_of(self, job: Job) -> Ahead:
        """The remaining work of a job; until its prompt is read, tokens that others compute for it do not count."""
        length = (
            0.0 if job.between is not None else max(1.0, min(job.max_tokens, self.pace.length) - len(job.generated))
        )
        tail = min(self._to_read(job) if job.sequence < 0 else job.to_compute, len(job.prompt) - job.stable)
        return Ahead(job.passage, tail, min(length, SENTENCE_TOKENS - len(job.generated)), length)

    def _say(self, id_: int, event: Queued | Begun | Piece | Finished | Rejection) -> None:
        self._outputs.append(Output(id_, event))
