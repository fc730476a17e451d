"""Train the reader: `python -m training.train DATA OUT --minutes M`; seeded, resumable, on a CPU or an accelerator.

The loss is the sum of three: a softmax over all units of all passages in the batch, in which those that answer share
the probability; a softmax over passages by pooled vectors and by MaxSim; and a logistic loss for whether a question is
answered at all by its own passages.
"""

import argparse
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from training.examples import WORD, Book, Example, Passage
from training.model import BETWEEN, HEADING, KINDS, Batch, Reader

LONGEST = 192
"""Tokens of a passage in training: the headings and a window of the text that holds what answers."""
BATCH = 8
DENSE_SCALE = 20.0
"""Inverse temperature of the softmax over pooled vectors, as sentence-transformers trains them."""


class Tokens:
    """Texts as the encoder reads them."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.first, self.last = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        self._known: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}

    def of(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and offsets without special tokens."""
        encoded = self.tokenizer.encode(text, add_special_tokens=False)
        return encoded.ids, encoded.offsets

    def passage(self, passage: Passage, wanted: Sequence[int], rng: random.Random) -> tuple[list[int], list[int]]:
        """Ids and segments of a passage, cut to a window that holds one of the wanted units."""
        ids, offsets = self.of(passage.text)
        body = len(passage.head)
        labels = [HEADING if start < body else BETWEEN for start, _ in offsets]
        for number, unit in enumerate(passage.units):
            for place, (start, _) in enumerate(offsets):
                if unit[0] <= start < unit[1]:
                    labels[place] = number + 2
        head = next((place for place, label in enumerate(labels) if label != HEADING), len(labels))
        head = min(head, LONGEST // 3)
        room = LONGEST - 2 - head
        at = [place for place, label in enumerate(labels) if label - 2 in wanted] if wanted else []
        first = rng.choice(at) if at else rng.randrange(head, max(head + 1, len(ids)))
        start = max(head, min(first - rng.randrange(room), len(ids) - room)) if len(ids) > head + room else head
        start = min(max(start, head), max(head, len(ids) - 1))
        return ids[:head] + ids[start : start + room], labels[:head] + labels[start : start + room]


def batch_of(
    chosen: Sequence[tuple[Example, Sequence[int]]], book: Book, tokens: Tokens, rng: random.Random
) -> tuple[Batch, torch.Tensor, torch.Tensor]:
    """A batch with its labels.

    Returns:
        The batch; (B, P, U) which units answer; (B, P) which passages were drawn for a question itself.
    """
    places = list(dict.fromkeys(number for _, numbers in chosen for number in numbers))
    wanted = {number: sorted({u for item, _ in chosen for u in item.positives.get(number, ())}) for number in places}
    pieces = [tokens.passage(book.passages[number], wanted[number], rng) for number in places]
    units = max(max((label - 1 for _, labels in pieces for label in labels), default=1), 1)
    longest = max(len(ids) for ids, _ in pieces) + 2
    ids, full = torch.zeros(len(places), longest, dtype=torch.long), torch.zeros(len(places), longest, dtype=torch.long)
    segments = torch.full((len(places), longest), units + 2, dtype=torch.long)
    kinds, words = torch.full((len(places), units), -1, dtype=torch.long), torch.zeros(len(places), units)
    for row, (number, (piece, labels)) in enumerate(zip(places, pieces, strict=True)):
        ids[row, : len(piece) + 2] = torch.tensor([tokens.first, *piece, tokens.last])
        full[row, : len(piece) + 2] = 1
        segments[row, 1 : len(piece) + 1] = torch.tensor(labels)
        for label in {label for label in labels if label >= 2}:
            unit = book.passages[number].units[label - 2]
            kinds[row, label - 2] = KINDS.index(unit[2])
            words[row, label - 2] = math.log1p(len(book.passages[number].text[unit[0] : unit[1]].split()))
    asked = [tokens.of(item.question) for item, _ in chosen]
    width = min(max(len(found) for found, _ in asked), 62) + 2
    question, mask, seen = (torch.zeros(len(chosen), width, dtype=torch.long) for _ in range(3))
    idf = torch.zeros(len(chosen), width)
    for row, ((item, _), (found, offsets)) in enumerate(zip(chosen, asked, strict=True)):
        found, offsets = found[: width - 2], offsets[: width - 2]
        question[row, : len(found) + 2] = torch.tensor([tokens.first, *found, tokens.last])
        seen[row, : len(found) + 2] = 1
        mask[row, 1 : len(found) + 1] = 1
        spans = [(m.start(), m.end(), m.group()) for m in WORD.finditer(item.question.lower())]
        for place, (start, _) in enumerate(offsets):
            word = next((text for a, b, text in spans if a <= start < b), "")
            idf[row, place + 1] = item.idf.get(word, 1.0)
    labels = torch.zeros(len(chosen), len(places), units, dtype=torch.bool)
    drawn = torch.zeros(len(chosen), len(places), dtype=torch.bool)
    for row, (item, numbers) in enumerate(chosen):
        for number in numbers:
            drawn[row, places.index(number)] = True
        for number, found in item.positives.items():
            if number in places:
                column = places.index(number)
                for unit in found:
                    if unit < units and kinds[column, unit] >= 0:
                        labels[row, column, unit] = True
    return Batch(question, mask, seen, idf, ids, full, segments, units, kinds, words), labels, drawn


def losses(model: Reader, batch: Batch, labels: torch.Tensor, drawn: torch.Tensor) -> dict[str, torch.Tensor]:
    """The parts of the loss of one batch."""
    out = model(batch)
    answered = labels.flatten(1).any(1)
    parts: dict[str, torch.Tensor] = {}
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
    parts["answers"] = 0.3 * F.binary_cross_entropy_with_logits(odds, answered.float())
    return parts


def rounds(examples: Sequence[Example], rng: random.Random) -> list[list[Example]]:
    """Batches of one pass over the examples, each of questions of one book."""
    by_book: dict[str, list[Example]] = {}
    for item in examples:
        by_book.setdefault(item.book, []).append(item)
    batches = []
    for group in by_book.values():
        rng.shuffle(group)
        batches += [group[start : start + BATCH] for start in range(0, len(group), BATCH)]
    rng.shuffle(batches)
    return batches


def draw(item: Example, rng: random.Random) -> tuple[Example, list[int]]:
    """A question with the passages that are read for it: one that answers if there is one, and hard negatives."""
    positives = list(item.positives)
    rng.shuffle(positives)
    count = 1 if positives else 2
    rest = item.negatives[:10] if rng.random() < 0.7 else item.negatives
    return item, positives[:1] + rng.sample(rest, min(count, len(rest)))


def train(
    model: Reader, examples: list[Example], books: dict[str, Book], tokens: Tokens, out: Path, options: Any
) -> None:
    """Train for so many minutes; the state is kept every 100 steps and taken up again if it is there."""
    rng = random.Random(options.seed)
    small = [model.mix, model.scale, model.rarity, model.kind, model.length, model.answers]
    names = {id(parameter) for parameter in small}
    large = [parameter for parameter in model.parameters() if id(parameter) not in names]
    optimizer = torch.optim.AdamW(
        [{"params": large}, {"params": small, "weight_decay": 0.0}], lr=1e-5, weight_decay=0.01
    )
    step, spent, state = 0, 0.0, out.with_suffix(".state")
    if state.exists():
        saved = torch.load(state)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step, spent = saved["step"], saved["spent"]
        rng.seed(options.seed + step)
    started = time.monotonic() - spent
    log: dict[str, float] = {}
    while True:
        for group in rounds(examples, rng):
            gone = (time.monotonic() - started) / 60 / options.minutes
            if gone >= 1:
                torch.save(model.state_dict(), out)
                return
            factor = min(1.0, (step + 1) / 60) * max(0.03, 0.5 * (1 + math.cos(math.pi * gone)))
            optimizer.param_groups[0]["lr"], optimizer.param_groups[1]["lr"] = options.lr * factor, 0.01 * factor
            batch, labels, drawn = batch_of([draw(item, rng) for item in group], books[group[0].book], tokens, rng)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bf16):
                parts = losses(model, batch, labels, drawn)
            loss = sum(parts.values())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            for name, value in parts.items():
                log[name] = log.get(name, float(value)) * 0.98 + 0.02 * float(value)
            if step % 25 == 0:
                mix = [round(float(value), 2) for value in model.mix]
                told = " ".join(f"{name} {value:.3f}" for name, value in log.items())
                print(
                    f"{step} {gone:.3f} {told} mix {mix} t {float(model.scale):.2f} r {float(model.rarity):.2f}",
                    flush=True,
                )
            if step % 100 == 0:
                torch.save(
                    {
                        "model": model.state_dict(),
                        "optimizer": optimizer.state_dict(),
                        "step": step,
                        "spent": time.monotonic() - started,
                    },
                    state,
                )


def options_of() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--lr", type=float, default=3e-5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bf16", action=argparse.BooleanOptionalAction, default=True)
    return parser
