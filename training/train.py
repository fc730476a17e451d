"""Train the reader; seeded, and resumable on a CPU.

The loss is a sum: a softmax over all units of the passages that a question is compared with, in which those that
answer share the probability; softmaxes over passages by pooled vectors and by MaxSim; a logistic loss for whether the
passages drawn for a question answer it at all; and where there is a teacher, how far the reader's softmax over these
passages is from the teacher's.
"""

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.model import Batch, Reader
from training.tokens import FIRST, LAST, LONGEST, Asked, Library

BATCH = 8
"""Questions."""
SMALL_RATE = 0.01
"""Learning rate of the few numbers beside the encoder."""
TOLD_EVERY, KEPT_EVERY = 25, 100
"""Steps."""
SAMPLE = 12
"""Examples whose token vectors the projection begins with, some 3,500."""
DENSE_SCALE = 20.0
"""Inverse temperature of the softmax over pooled vectors, as sentence-transformers trains them."""

Drawn = tuple[Asked, Sequence[int]]
"""A question, and the passages of its book that are read for it."""


@dataclass
class Labels:
    """What is right in a batch: B questions, P passages, K of them compared with each question, U units."""

    units: Tensor
    """(B, K, U): which units answer."""
    passages: Tensor
    """(B, P): which passages answer."""
    drawn: Tensor
    """(B, K): which passages were drawn for the question itself."""

    def to(self, device: str) -> "Labels":
        """The same on another device."""
        return Labels(self.units.to(device), self.passages.to(device), self.drawn.to(device))


def batch_of(
    chosen: Sequence[Drawn], library: Library, rng: random.Random, *, longest: int = LONGEST, apart: bool = False
) -> tuple[Batch, Labels]:
    """A batch with its labels.

    Args:
        chosen: The questions.
        library: The books.
        rng: Places the windows.
        longest: Tokens of a passage at most.
        apart: Compare tokens with those of the question's own passages alone; else with all of the batch.
    """
    places = list(dict.fromkeys((item.book, number) for item, numbers in chosen for number in numbers))
    column = {place: number for number, place in enumerate(places)}
    most = max(len(numbers) for _, numbers in chosen) if apart else len(places)
    own, drawn = torch.zeros(len(chosen), most, dtype=torch.long), torch.zeros(len(chosen), most, dtype=torch.bool)
    for row, (item, numbers) in enumerate(chosen):
        mine = [column[item.book, number] for number in numbers]
        others = rng.choices(range(len(places)), k=most - len(mine)) if apart else []
        own[row] = torch.tensor([*mine, *others] if apart else range(most))
        drawn[row, list(range(len(mine))) if apart else mine] = True
    batch = Batch(*_questions([item for item, _ in chosen]), *_passages(chosen, places, library, rng, longest), own)
    units = torch.zeros(*own.shape, batch.units, dtype=torch.bool)
    passages = torch.zeros(len(chosen), len(places), dtype=torch.bool)
    for row, (item, _) in enumerate(chosen):
        for number, wanted in item.positives.items():
            place = column.get((item.book, number), -1)
            seen = [unit for unit in wanted if place >= 0 and unit < batch.units and batch.kinds[place, unit] >= 0]
            if seen:
                passages[row, place] = True
                for at in (own[row] == place).nonzero().flatten().tolist():
                    units[row, at, seen] = True
    return batch, Labels(units, passages, drawn)


def _questions(asked: Sequence[Asked]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The first four fields of a batch."""
    width = max(len(item.ids) for item in asked) + 2
    question = torch.zeros(len(asked), width, dtype=torch.long)
    mask, seen = torch.zeros(len(asked), width), torch.zeros(len(asked), width)
    idf = torch.zeros(len(asked), width)
    for row, item in enumerate(asked):
        question[row, : len(item.ids) + 2] = torch.tensor([FIRST, *item.ids, LAST])
        seen[row, : len(item.ids) + 2] = 1
        mask[row, 1 : len(item.ids) + 1] = 1
        idf[row, 1 : len(item.ids) + 1] = torch.tensor(item.idf)
    return question, mask, seen, idf


def _passages(
    chosen: Sequence[Drawn], places: Sequence[tuple[str, int]], library: Library, rng: random.Random, most: int
) -> tuple[Tensor, Tensor, Tensor, int, Tensor, Tensor]:
    """The next six."""
    wanted: dict[tuple[str, int], set[int]] = {}
    for item, _ in chosen:
        for number, found in item.positives.items():
            wanted.setdefault((item.book, number), set()).update(found)
    texts = [library[book][number] for book, number in places]
    pieces = [text.window(sorted(wanted.get(place, ())), rng, most) for text, place in zip(texts, places, strict=True)]
    units = max(max((segment - 1 for _, segments in pieces for segment in segments), default=1), 1)
    longest = max(len(ids) for ids, _ in pieces) + 2
    ids, full = torch.zeros(len(places), longest, dtype=torch.long), torch.zeros(len(places), longest, dtype=torch.long)
    segments = torch.full((len(places), longest), units + 2, dtype=torch.long)
    kinds, words = torch.full((len(places), units), -1, dtype=torch.long), torch.zeros(len(places), units)
    for row, (text, (piece, belongs)) in enumerate(zip(texts, pieces, strict=True)):
        ids[row, : len(piece) + 2] = torch.tensor([FIRST, *piece, LAST])
        full[row, : len(piece) + 2] = 1
        segments[row, 1 : len(piece) + 1] = torch.tensor(belongs)
        for unit in {segment - 2 for segment in belongs if segment >= 2}:
            kinds[row, unit] = text.kinds[unit]
            words[row, unit] = math.log1p(text.words[unit])
    return ids, full, segments, units, kinds, words


def losses(model: Any, batch: Batch, labels: Labels, taught: Tensor | None = None) -> dict[str, Tensor]:  # noqa: ANN401 - either one
    """The parts of the loss of one batch.

    Args:
        model: `Reader`, or `cross.Ranker`, which has scores of units alone.
        batch: Questions and passages.
        labels: What is right.
        taught: (B, K), what a teacher scores the passages.
    """
    out = model(batch)
    answered = labels.units.flatten(1).any(1)
    parts: dict[str, Tensor] = {}

    def hit(scores: Tensor, right: Tensor) -> Tensor:
        chosen = torch.logsumexp(scores.masked_fill(~right, -1e4), 1)
        return (torch.logsumexp(scores, 1) - chosen).mean()

    if answered.any():
        flat, right = out["units"][answered].flatten(1), labels.units[answered].flatten(1)
        if "rest" in out:
            flat = torch.cat([flat, out["rest"][answered]], dim=1)
            right = functional.pad(right, (0, out["rest"].shape[1]))
        parts["units"] = hit(flat, right)
        if "dense" in out:
            scale = float(torch.exp(model.scale.detach()))
            parts["dense"] = 0.5 * hit(out["dense"][answered] * DENSE_SCALE, labels.passages[answered])
            parts["passage"] = 0.3 * hit(out["passage"][answered] * scale, labels.units[answered].any(2))
    own = out["units"].masked_fill(~labels.drawn.unsqueeze(-1), -1e4).flatten(1).max(1).values
    odds = model.answers[0] * own + model.answers[1]
    parts["answers"] = 0.3 * functional.binary_cross_entropy_with_logits(odds, answered.float())
    if taught is not None:
        aim = functional.softmax(taught, dim=1)
        for name, scores in (
            ("taught", torch.logsumexp(out["units"], 2)),
            ("taught dense", DENSE_SCALE * out["dense"].gather(1, batch.own)),
        ):
            parts[name] = functional.kl_div(functional.log_softmax(scores, dim=1), aim, reduction="batchmean")
    return parts


def rounds(asked: Sequence[Asked], rng: random.Random) -> list[list[Asked]]:
    """Batches of one pass over the questions, each of questions on one book."""
    by_book: dict[str, list[Asked]] = {}
    for item in asked:
        by_book.setdefault(item.book, []).append(item)
    batches = []
    for group in by_book.values():
        rng.shuffle(group)
        batches += [group[start : start + BATCH] for start in range(0, len(group), BATCH)]
    rng.shuffle(batches)
    return batches


def draw(item: Asked, rng: random.Random) -> Drawn:
    """A question with two passages that are read for it: one that answers if there is one, and hard negatives."""
    positives = list(item.positives)
    rng.shuffle(positives)
    count = 1 if positives else 2
    rest = item.negatives[:10] if rng.random() < 0.7 else item.negatives
    return item, positives[:1] + rng.sample(rest, min(count, len(rest)))


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to train."""

    minutes: float
    """Minutes of training on this machine."""
    rate: float = 3e-5
    seed: int = 1
    steps: int = 0
    """Number of steps instead of minutes; gives the same weights on the same machine each time."""
    device: str = "cpu"
    stop: float = math.inf
    """Latest end, by `time.monotonic()`."""

    def gone(self, step: int, spent_s: float) -> float:
        """The completed share."""
        share = step / self.steps if self.steps else spent_s / 60 / self.minutes
        return 1.0 if time.monotonic() > self.stop else share

    def factor(self, step: int, gone: float) -> float:
        """Of the learning rates: up for 60 steps, then down along a cosine."""
        return min(1.0, (step + 1) / 60) * max(0.03, 0.5 * (1 + math.cos(math.pi * gone)))


class Training:
    """A model with its optimizer.

    Args:
        model: Is changed.
        schedule: How long and how fast.
        small: Parameters that learn at a rate of their own.
        small_rate: That rate.
        state: A file that is written every `KEPT_EVERY` steps, and taken up again from; None: nothing is kept.
    """

    def __init__(
        self,
        model: nn.Module,
        schedule: Schedule,
        small: Sequence[nn.Parameter],
        small_rate: float = SMALL_RATE,
        state: Path | None = None,
    ) -> None:
        self.model, self.schedule, self.small_rate, self.state = model.to(schedule.device), schedule, small_rate, state
        names = {id(parameter) for parameter in small}
        large = [weight for weight in model.parameters() if weight.requires_grad and id(weight) not in names]
        self.optimizer = torch.optim.AdamW([{"params": large}, {"params": list(small), "weight_decay": 0.0}], lr=1e-5)
        self.step, self.spent_s = 0, 0.0
        if state is not None and state.exists():
            saved = torch.load(state)
            model.load_state_dict(saved["model"])
            self.optimizer.load_state_dict(saved["optimizer"])
            self.step, self.spent_s = saved["step"], saved["spent"]
        self.rng = random.Random(schedule.seed + self.step)
        self.means: dict[str, float] = {}

    def turns(self) -> Iterator[float]:
        """Yield the completed share of the schedule before each step; report progress and save the state."""
        started = time.monotonic() - self.spent_s
        while (gone := self.schedule.gone(self.step, self.spent_s)) < 1:
            yield gone
            self.spent_s = time.monotonic() - started
            if self.step % TOLD_EVERY == 0:
                means = " ".join(f"{name} {value:.3f}" for name, value in self.means.items())
                print(f"{self.step} {gone:.3f} {means}", flush=True)
            if self.state is not None and self.step % KEPT_EVERY == 0:
                kept = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
                save(kept | {"step": self.step, "spent": self.spent_s}, self.state)

    def learn(self, parts: dict[str, Tensor], gone: float) -> None:
        """One step along the slope of a loss."""
        factor = self.schedule.factor(self.step, gone)
        large, small = self.optimizer.param_groups
        large["lr"], small["lr"] = self.schedule.rate * factor, self.small_rate * factor
        torch.stack(list(parts.values())).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        for name, value in parts.items():
            self.means[name] = 0.98 * self.means.get(name, value.item()) + 0.02 * value.item()


def small_of(model: Reader) -> list[nn.Parameter]:
    """The few numbers of a reader beside its encoder."""
    return [model.mix, model.scale, model.rarity, model.kind, model.length, model.answers]


def train(model: Reader, asked: Sequence[Asked], library: Library, *, out: Path, schedule: Schedule) -> None:
    """Train as long as the schedule says, from the kept state if there is one, and write the weights."""
    training = Training(model, schedule, small_of(model), state=out.with_suffix(".state"))
    batches: list[list[Asked]] = []
    for gone in training.turns():
        batches = batches or rounds(asked, training.rng)
        drawn = [draw(item, training.rng) for item in batches.pop(0)]
        batch, labels = batch_of(drawn, library, training.rng)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            parts = losses(model, batch, labels)
        training.learn(parts, gone)
    save(model.state_dict(), out)


def start_projection(model: Reader, asked: Sequence[Asked], library: Library) -> None:
    """Begin the projection with the principal directions of the token vectors of some questions and passages."""
    rng = random.Random(1)
    seen = []
    with torch.no_grad():
        for item in rng.sample(list(asked), min(SAMPLE, len(asked))):
            batch, _ = batch_of([draw(item, rng)], library, rng)
            for ids, full in ((batch.passage_ids, batch.passage_full), (batch.question_ids, batch.question_full)):
                vectors, _ = model.encode(ids, full)
                seen.append(vectors[full.bool()])
    model.start_projection(torch.cat(seen))


def save(value: object, path: Path) -> None:
    """Write a file that is whole or not there."""
    partial = path.with_suffix(".partial")
    torch.save(value, partial)
    partial.rename(path)
