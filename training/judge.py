"""Training of the cross-encoder that judges claims, and its evaluation on true and false claims.

A batch is of one kind of pair and holds about so many tokens. The loss is a softmax over *states*, *denies* and
*neither*, where *not stated* is the sum of the last two; of twins, a true claim and its near variant beside the same
evidence, the true one also has to be the likelier.
"""

import random
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from training.cross import NOT_STATED, STATES, Judge
from training.tokens import FIRST, LAST, Groups, Pair

TOGETHER = 16
"""Batches of groups that are put in order of length before they are cut."""
SHARES = {"public": 1.0, "claims": 1.0, "mutations": 0.5}
"""Relative sampling rates of the kinds of batches."""
TWINS = 0.5
"""Weight of the comparison of twins in the loss."""
MOST_FALSE = (0.01, 0.05, 0.1)
"""Shares of accepted false claims at which the share of accepted true ones is reported."""
AT_ONCE = 64
"""Pairs that are judged together."""


def batches(groups: Groups, rng: random.Random, size: int) -> Iterator[list[list[Pair]]]:
    """Batches without end, of one kind each and with about `size` pairs of like length."""
    kinds = [kind for kind in SHARES if groups.get(kind)]
    ready: dict[str, list[list[list[Pair]]]] = {kind: [] for kind in kinds}

    def longest(group: Sequence[Pair]) -> int:
        return max(len(pair.claim) + len(pair.evidence) for pair in group)

    while True:
        kind = rng.choices(kinds, [SHARES[name] for name in kinds])[0]
        if not ready[kind]:
            each = max(1, size // len(groups[kind][0]))
            some = rng.sample(groups[kind], min(len(groups[kind]), each * TOGETHER))
            some.sort(key=longest)
            ready[kind] = [some[start : start + each] for start in range(0, len(some), each)]
            rng.shuffle(ready[kind])
        yield ready[kind].pop()


def tensors(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids of claims and of evidence, (N, L) and (N, M); labels, (N,)."""
    claims = [torch.tensor([FIRST, *pair.claim, LAST]) for pair in pairs]
    evidence = [torch.tensor([FIRST, *pair.evidence, LAST]) for pair in pairs]
    labels = torch.tensor([pair.label for pair in pairs])
    return pad_sequence(claims, batch_first=True), pad_sequence(evidence, batch_first=True), labels


def losses(logits: Tensor, labels: Tensor, *, twins: bool) -> dict[str, Tensor]:
    """The parts of the loss of a batch.

    Args:
        logits: (N, 3).
        labels: (N,), see `training.cross`.
        twins: Pairs 2n and 2n + 1 are a claim and its near variant.
    """
    chances = functional.log_softmax(logits, dim=-1)
    not_stated = torch.logsumexp(chances[:, 1:], dim=-1)
    of_label = chances.gather(1, labels.clamp(max=NOT_STATED - 1).unsqueeze(1)).squeeze(1)
    parts = {"label": -torch.where(labels == NOT_STATED, not_stated, of_label).mean()}
    if twins:
        odds = chances[:, STATES] - not_stated
        sign = torch.where(labels[0::2] == STATES, 1.0, -1.0)
        parts["twins"] = TWINS * functional.softplus(-sign * (odds[0::2] - odds[1::2])).mean()
    return parts


@torch.no_grad()
def judge(model: Judge, groups: Sequence[Sequence[Pair]], device: str) -> str:
    """A line on how well the odds that evidence states a claim separate true claims from false ones."""
    model.to(device).eval()
    pairs = [pair for group in groups for pair in group]
    odds: list[float] = []
    for start in range(0, len(pairs), AT_ONCE):
        claims, evidence, _ = tensors(pairs[start : start + AT_ONCE])
        chances = functional.log_softmax(model(claims.to(device), evidence.to(device)), dim=-1)
        odds += (chances[:, STATES] - torch.logsumexp(chances[:, 1:], dim=-1)).tolist()
    model.train()
    labels = [pair.label == STATES for pair in pairs]
    true = sorted(value for value, label in zip(odds, labels, strict=True) if label)
    false = sorted((value for value, label in zip(odds, labels, strict=True) if not label), reverse=True)
    above = sum(sum(value > other for other in false) for value in true) / (len(true) * len(false))
    kept = {most: sum(value > false[int(most * len(false))] for value in true) / len(true) for most in MOST_FALSE}
    told = ", ".join(f"{value:.3f} of the true kept with {most:.2f} of the false" for most, value in kept.items())
    return f"{len(labels)} claims: area {above:.3f}; {told}"
