"""Train the reader on a CPU; seeded and resumable.

The loss is the sum of three: a softmax over all units of all passages in the batch, in which those that answer share
the probability; a softmax over passages by pooled vectors and by MaxSim; and a logistic loss for whether a question is
answered at all by its own passages.
"""

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from training.model import Batch, Reader
from training.tokens import Asked, Library, Text

FIRST, LAST = 101, 102
"""Tokens [CLS] and [SEP] of BERT's vocabulary, around every text."""
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


def batch_of(
    chosen: Sequence[tuple[Asked, Sequence[int]]], texts: Sequence[Text], rng: random.Random
) -> tuple[Batch, Tensor, Tensor]:
    """A batch with its labels.

    Returns:
        The batch; (B, P, U) which units answer; (B, P) which passages were drawn for a question itself.
    """
    places = list(dict.fromkeys(number for _, numbers in chosen for number in numbers))
    batch = Batch(*_questions([item for item, _ in chosen]), *_passages(chosen, places, texts, rng))
    labels = torch.zeros(len(chosen), len(places), batch.units, dtype=torch.bool)
    drawn = torch.zeros(len(chosen), len(places), dtype=torch.bool)
    column = {number: place for place, number in enumerate(places)}
    for row, (item, numbers) in enumerate(chosen):
        drawn[row, [column[number] for number in numbers]] = True
        for number, units in item.positives.items():
            if number in column:
                seen = [unit for unit in units if unit < batch.units and batch.kinds[column[number], unit] >= 0]
                labels[row, column[number], seen] = True
    return batch, labels, drawn


def _questions(asked: Sequence[Asked]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The first four fields of a batch."""
    width = max(len(item.ids) for item in asked) + 2
    question, mask, seen = (torch.zeros(len(asked), width, dtype=torch.long) for _ in range(3))
    idf = torch.zeros(len(asked), width)
    for row, item in enumerate(asked):
        question[row, : len(item.ids) + 2] = torch.tensor([FIRST, *item.ids, LAST])
        seen[row, : len(item.ids) + 2] = 1
        mask[row, 1 : len(item.ids) + 1] = 1
        idf[row, 1 : len(item.ids) + 1] = torch.tensor(item.idf)
    return question, mask, seen, idf


def _passages(
    chosen: Sequence[tuple[Asked, Sequence[int]]], places: Sequence[int], texts: Sequence[Text], rng: random.Random
) -> tuple[Tensor, Tensor, Tensor, int, Tensor, Tensor]:
    """The other fields of a batch."""
    wanted: dict[int, set[int]] = {}
    for item, _ in chosen:
        for place, found in item.positives.items():
            wanted.setdefault(place, set()).update(found)
    pieces = [texts[place].window(sorted(wanted.get(place, ())), rng) for place in places]
    units = max(max((segment - 1 for _, segments in pieces for segment in segments), default=1), 1)
    longest = max(len(ids) for ids, _ in pieces) + 2
    ids, full = torch.zeros(len(places), longest, dtype=torch.long), torch.zeros(len(places), longest, dtype=torch.long)
    segments = torch.full((len(places), longest), units + 2, dtype=torch.long)
    kinds, words = torch.full((len(places), units), -1, dtype=torch.long), torch.zeros(len(places), units)
    for row, (number, (piece, belongs)) in enumerate(zip(places, pieces, strict=True)):
        ids[row, : len(piece) + 2] = torch.tensor([FIRST, *piece, LAST])
        full[row, : len(piece) + 2] = 1
        segments[row, 1 : len(piece) + 1] = torch.tensor(belongs)
        for unit in {segment - 2 for segment in belongs if segment >= 2}:
            kinds[row, unit] = texts[number].kinds[unit]
            words[row, unit] = math.log1p(texts[number].words[unit])
    return ids, full, segments, units, kinds, words


def losses(model: Reader, batch: Batch, labels: Tensor, drawn: Tensor) -> dict[str, Tensor]:
    """The parts of the loss of one batch."""
    out = model(batch)
    answered = labels.flatten(1).any(1)
    parts: dict[str, Tensor] = {}
    flat, right = out["units"].flatten(1), labels.flatten(1)
    if answered.any():
        chosen = torch.logsumexp(flat[answered].masked_fill(~right[answered], -1e4), 1)
        parts["units"] = (torch.logsumexp(flat[answered], 1) - chosen).mean()
        target = labels.any(2)[answered]
        for name, weight, scale in (
            ("dense", 0.5, DENSE_SCALE),
            ("passage", 0.3, float(torch.exp(model.scale.detach()))),
        ):
            scores = out[name][answered] * scale
            hit = torch.logsumexp(scores.masked_fill(~target, -1e4), 1)
            parts[name] = weight * (torch.logsumexp(scores, 1) - hit).mean()
    own = out["units"].masked_fill(~drawn.unsqueeze(-1), -1e4).flatten(1).max(1).values
    odds = model.answers[0] * own + model.answers[1]
    parts["answers"] = 0.3 * functional.binary_cross_entropy_with_logits(odds, answered.float())
    return parts


def rounds(asked: Sequence[Asked], rng: random.Random, size: int = BATCH) -> list[list[Asked]]:
    """Batches of one pass over the questions, each of questions on one book."""
    by_book: dict[str, list[Asked]] = {}
    for item in asked:
        by_book.setdefault(item.book, []).append(item)
    batches = []
    for group in by_book.values():
        rng.shuffle(group)
        batches += [group[start : start + size] for start in range(0, len(group), size)]
    rng.shuffle(batches)
    return batches


def draw(item: Asked, rng: random.Random) -> tuple[Asked, list[int]]:
    """A question with the passages that are read for it: one that answers if there is one, and hard negatives."""
    positives = list(item.positives)
    rng.shuffle(positives)
    count = 1 if positives else 2
    rest = item.negatives[:10] if rng.random() < 0.7 else item.negatives
    return item, positives[:1] + rng.sample(rest, min(count, len(rest)))


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to train."""

    minutes: float
    """Of training, on this machine."""
    rate: float = 3e-5
    seed: int = 1
    steps: int = 0
    """Stop after so many instead, and get the same weights on the same machine each time."""
    batch: int = BATCH
    device: str = "cpu"

    def gone(self, step: int, spent_s: float) -> float:
        """The share of it that is behind."""
        return step / self.steps if self.steps else spent_s / 60 / self.minutes

    def factor(self, step: int, gone: float) -> float:
        """Of the learning rates: up for 60 steps, then down along a cosine."""
        return min(1.0, (step + 1) / 60) * max(0.03, 0.5 * (1 + math.cos(math.pi * gone)))


class Training:
    """A model with its optimizer, kept in a file every `KEPT_EVERY` steps and taken up again from there.

    Args:
        model: Is changed.
        out: Where the weights will be; the state lies beside it.
        schedule: How long and how fast.
    """

    def __init__(self, model: Reader, out: Path, schedule: Schedule) -> None:
        self.model, self.out, self.schedule = model, out, schedule
        small = [model.mix, model.scale, model.rarity, model.kind, model.length, model.answers]
        names = {id(parameter) for parameter in small}
        large = [parameter for parameter in model.parameters() if id(parameter) not in names]
        self.optimizer = torch.optim.AdamW([{"params": large}, {"params": small, "weight_decay": 0.0}], lr=1e-5)
        self.step, self.spent_s = 0, 0.0
        self.state = out.with_suffix(".state")
        if self.state.exists():
            saved = torch.load(self.state)
            model.load_state_dict(saved["model"])
            self.optimizer.load_state_dict(saved["optimizer"])
            self.step, self.spent_s = saved["step"], saved["spent"]
        self.rng = random.Random(schedule.seed + self.step)
        self.means: dict[str, float] = {}

    def learn(self, batch: Batch, labels: Tensor, drawn: Tensor, gone: float) -> None:
        """One step."""
        factor = self.schedule.factor(self.step, gone)
        large, small = self.optimizer.param_groups
        large["lr"], small["lr"] = self.schedule.rate * factor, SMALL_RATE * factor
        device = self.schedule.device
        with torch.autocast(device, dtype=torch.bfloat16):
            parts = losses(self.model, batch.to(device), labels.to(device), drawn.to(device))
        torch.stack(list(parts.values())).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        for name, value in parts.items():
            self.means[name] = 0.98 * self.means.get(name, value.item()) + 0.02 * value.item()

    def tell(self, gone: float) -> None:
        """Print where the training stands: step, share of the time, running means of the losses."""
        means = " ".join(f"{name} {value:.3f}" for name, value in self.means.items())
        print(f"{self.step} {gone:.3f} {means}", flush=True)

    def keep(self) -> None:
        """Write the state."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "spent": self.spent_s,
        }
        _save(state, self.state)


def train(model: Reader, asked: Sequence[Asked], library: Library, *, out: Path, schedule: Schedule) -> None:
    """Train as long as the schedule says, from the kept state if there is one, and write the weights."""
    training = Training(model.to(schedule.device), out, schedule)
    started = time.monotonic() - training.spent_s
    while True:
        for group in rounds(asked, training.rng, schedule.batch):
            training.spent_s = time.monotonic() - started
            gone = schedule.gone(training.step, training.spent_s)
            if gone >= 1:
                _save(model.cpu().state_dict(), out)
                return
            chosen = [draw(item, training.rng) for item in group]
            training.learn(*batch_of(chosen, library[group[0].book], training.rng), gone)
            if training.step % TOLD_EVERY == 0:
                training.tell(gone)
            if training.step % KEPT_EVERY == 0:
                training.keep()


def start_projection(model: Reader, asked: Sequence[Asked], library: Library) -> None:
    """Begin the projection with the principal directions of the token vectors of some questions and passages."""
    rng = random.Random(1)
    seen = []
    with torch.no_grad():
        for item in rng.sample(list(asked), min(SAMPLE, len(asked))):
            batch, _, _ = batch_of([draw(item, rng)], library[item.book], rng)
            for ids, full in ((batch.passage_ids, batch.passage_full), (batch.question_ids, batch.question_full)):
                vectors, _ = model.encode(ids, full)
                seen.append(vectors[full.bool()])
    model.start_projection(torch.cat(seen))


def _save(value: object, path: Path) -> None:
    """Write a file that is whole or not there."""
    partial = path.with_suffix(".partial")
    torch.save(value, partial)
    partial.rename(path)
