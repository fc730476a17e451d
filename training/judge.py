"""Train the cross-encoder on pairs that `training.pairs` wrote, and judge it on claims about other books; seeded.

A batch is of one kind of pair and holds about so many tokens. The loss is a softmax over *states*, *denies* and
*neither*, where *not stated* is the sum of the last two; of twins, a true claim and its near variant beside the same
evidence, the true one also has to be the likelier.
"""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from training import sources
from training.cross import NOT_STATED, STATES, Cross

TOKENS = 4500
"""Of a batch, padding included."""
TOGETHER = 256
"""Pairs or twins that are put in order of length before they are cut into batches."""
SHARES = {"public": 1.0, "claims": 1.0, "mutations": 0.5}
"""How often a batch is of which kind, relative to each other."""
TWINS = 0.5
"""What the comparison of twins counts in the loss."""
RATE, HEAD_RATE = 1.6e-4, 1e-3
WARM_UP = 60
LEAST = 0.05
"""Of the learning rate at the end."""
TOLD_EVERY = 25
MOST_FALSE = (0.01, 0.05, 0.1)
"""Shares of false claims at which the true ones that are kept are told."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts as the encoder reads them."""

    ids: list[int]
    types: list[int]
    label: int


def read_pairs(path: Path) -> dict[str, list[list[Pair]]]:
    """Groups of pairs by kind: single ones, or twins."""
    found: dict[str, list[list[Pair]]] = {}
    for row in sources.rows(path):
        group = [Pair(item["ids"], item["types"], item["label"]) for item in row["pairs"]]
        found.setdefault(row["kind"], []).append(group)
    return found


def batches(groups: Sequence[list[Pair]], rng: random.Random) -> Iterator[list[list[Pair]]]:
    """Groups without end, those of like length together."""

    def longest(group: Sequence[Pair]) -> int:
        return max(len(pair.ids) for pair in group)

    while True:
        order = rng.sample(list(groups), len(groups))
        cut: list[list[list[Pair]]] = []
        for start in range(0, len(order), TOGETHER):
            batch: list[list[Pair]] = []
            for group in sorted(order[start : start + TOGETHER], key=longest):
                if batch and (sum(map(len, batch)) + len(group)) * longest(group) > TOKENS:
                    cut.append(batch)
                    batch = []
                batch.append(group)
            cut.append(batch)
        rng.shuffle(cut)
        yield from cut


def tensors(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ids, types and which tokens there are, (N, L) each; labels, (N,)."""
    longest = max(len(pair.ids) for pair in pairs)
    ids, types, full = (torch.zeros(len(pairs), longest, dtype=torch.long) for _ in range(3))
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        types[row, : len(pair.ids)] = torch.tensor(pair.types)
        full[row, : len(pair.ids)] = 1
    return ids, types, full, torch.tensor([pair.label for pair in pairs])


def losses(logits: Tensor, labels: Tensor, *, twins: bool) -> Tensor:
    """The loss of a batch.

    Args:
        logits: (N, 3).
        labels: (N,), see `training.cross`.
        twins: Pairs 2n and 2n + 1 are a claim and its near variant.
    """
    chances = functional.log_softmax(logits, dim=-1)
    not_stated = torch.logsumexp(chances[:, 1:], dim=-1)
    of_label = chances.gather(1, labels.clamp(max=NOT_STATED - 1).unsqueeze(1)).squeeze(1)
    loss = -torch.where(labels == NOT_STATED, not_stated, of_label).mean()
    if twins:
        odds = chances[:, STATES] - not_stated
        sign = torch.where(labels[0::2] == STATES, 1.0, -1.0)
        loss = loss + TWINS * functional.softplus(-sign * (odds[0::2] - odds[1::2])).mean()
    return loss


def train(model: Cross, pairs: Path, out: Path, *, minutes: float, steps: int = 0, seed: int = 1) -> None:
    """Train for so many minutes, or so many steps if that is not 0, and write the weights."""
    rng = random.Random(seed)
    found = read_pairs(pairs)
    streams = {kind: batches(groups, rng) for kind, groups in found.items() if kind in SHARES}
    body = [weight for weight in model.bert.parameters() if weight.requires_grad]
    rates = (RATE, HEAD_RATE)
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": RATE}, {"params": model.head.parameters(), "lr": HEAD_RATE}], weight_decay=0.01
    )
    began, step = time.monotonic(), 0
    means: dict[str, float] = {}
    while (gone := step / steps if steps else (time.monotonic() - began) / 60 / minutes) < 1:
        factor = min(1.0, (step + 1) / WARM_UP) * max(LEAST, 1 - gone)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        kind = rng.choices(list(streams), [SHARES[name] for name in streams])[0]
        batch = next(streams[kind])
        *given, labels = tensors([pair for group in batch for pair in group])
        loss = losses(model(*given), labels, twins=len(batch[0]) > 1)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        means[kind] = 0.95 * means.get(kind, loss.item()) + 0.05 * loss.item()
        if step % TOLD_EVERY == 0:
            print(f"{step} {gone:.3f} " + " ".join(f"{name} {value:.3f}" for name, value in means.items()), flush=True)
    partial = out.with_suffix(".partial")
    torch.save(model.state_dict(), partial)
    partial.rename(out)


@torch.no_grad()
def judge(model: Cross, pairs: Path) -> str:
    """How well the odds that evidence states a claim tell true claims from false ones, in a line."""
    model.eval()
    groups = [group for found in read_pairs(pairs).values() for group in found]
    odds: list[float] = []
    for group in groups:
        *given, _ = tensors(group)
        chances = functional.log_softmax(model(*given), dim=-1)
        odds += (chances[:, STATES] - torch.logsumexp(chances[:, 1:], dim=-1)).tolist()
    labels = [pair.label == STATES for group in groups for pair in group]
    true = sorted(value for value, label in zip(odds, labels, strict=True) if label)
    false = sorted((value for value, label in zip(odds, labels, strict=True) if not label), reverse=True)
    above = sum(sum(value > other for other in false) for value in true) / (len(true) * len(false))
    kept = {most: sum(value > false[int(most * len(false))] for value in true) / len(true) for most in MOST_FALSE}
    told = ", ".join(f"{value:.3f} of the true kept with {most:.2f} of the false" for most, value in kept.items())
    return f"{len(labels)} claims: area {above:.3f}; {told}"
