"""Cross-encoders: the reader's own encoder over two texts together.

`Ranker` reads a question and a passage, as any cross-encoder does, and says of each token of the passage how likely it
belongs to what answers. A unit scores the logarithm of the sum over its tokens, a passage that over all of its tokens,
so the softmax of `training.train` over units is one over tokens.

`Judge` reads a claim and its evidence. Tokens have four types: of the first text, of the second, and of either one if
the other one holds the same token; so what is repeated and what is not can be seen from the first layer on. From the
last layer's vectors h, u (mean of the first text) and v (mean of the second) three numbers are computed:

    W [h(CLS), u, v, |u - v|, u v] + b

A softmax over them says whether the second text states the first, denies it, or does neither. The comparison of u and v
is that of Conneau et al. 2017 (InferSent).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from training.model import Batch, bert
from training.tokens import FIRST, LAST

STATES, DENIES, NEITHER, NOT_STATED = 0, 1, 2, 3
"""Labels; the last one is either of the two before it."""
OUTPUTS = 3
DROPOUT = 0.1
"""Dropout of the encoder in training."""


class Cross(nn.Module):
    """An encoder over two texts.

    Args:
        folder: Holds the encoder's `config.json`.
        weights: That it begins with; empty: they are loaded later.
        layers: Its first ones.
        types: Of tokens.
    """

    def __init__(self, folder: str, weights: Mapping[str, Tensor], *, layers: int, types: int) -> None:
        super().__init__()
        self.bert = bert(folder, weights, dropout=DROPOUT)
        self.bert.encoder.layer = self.bert.encoder.layer[:layers]
        known = self.bert.embeddings.token_type_embeddings.weight.data
        self.bert.embeddings.token_type_embeddings = nn.Embedding(types, known.shape[1])
        self.bert.embeddings.token_type_embeddings.weight.data = torch.cat([known] * (types // len(known)))
        self.bert.config.type_vocab_size = types
        self.bert.config.num_hidden_layers = layers

    def encode(self, ids: Tensor, types: Tensor, full: Tensor) -> Tensor:
        """(N, L) each -> (N, L, d); padding may be anywhere."""
        positions = (full.cumsum(1) - 1).clamp(min=0)
        read = self.bert(input_ids=ids, attention_mask=full, token_type_ids=types, position_ids=positions)
        hidden: Tensor = read.last_hidden_state.float()
        return hidden


def joined(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Join two texts: their ids, (N, L) and (N, M), each from [CLS] to [SEP], padded with 0.

    Returns:
        Ids without the second [CLS], their types (0 or 1), and which there are, (N, L + M - 1) each.
    """
    ids = torch.cat([first, second[:, 1:]], dim=1)
    types = torch.cat([torch.zeros_like(first), torch.ones_like(second[:, 1:])], dim=1)
    return ids, types, (ids != 0).long()


class Ranker(Cross):
    """See the module's docstring."""

    def __init__(self, folder: str, weights: Mapping[str, Tensor], *, layers: int = 6) -> None:
        super().__init__(folder, weights, layers=layers, types=2)
        self.head = nn.Linear(self.bert.config.hidden_size, 1)
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)
        self.answers = nn.Parameter(torch.tensor([0.3, -1.0]))
        """Slope and bias from the best unit's score to the odds that the book answers."""

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Scores of each question's own passages: `units`, (B, K, U), and `rest`, (B, K), of what is in no unit."""
        b, k = batch.own.shape
        first, second = batch.question_ids.repeat_interleave(k, 0), batch.passage_ids[batch.own].flatten(0, 1)
        hidden = self.encode(*joined(first, second))[:, first.shape[1] - 1 :]  # the first [SEP] or padding for [CLS]
        logits = self.head(hidden).squeeze(-1)
        segments = batch.segments[batch.own].flatten(0, 1)
        most = logits.max(1, keepdim=True).values.detach()
        sums = logits.new_zeros(b * k, batch.units + 3).scatter_add(1, segments, (logits - most).exp())
        scores = sums[:, 2 : batch.units + 2].clamp(min=1e-9).log() + most
        rest = sums[:, :2].sum(1, keepdim=True).clamp(min=1e-9).log() + most
        units = scores.view(b, k, -1).masked_fill(batch.kinds[batch.own] < 0, -1e4)
        return {"units": units, "rest": rest.view(b, k)}

    @classmethod
    def exported(cls, folder: Path) -> "Ranker":
        """The ranker of a reader's folder, in full precision."""
        weights = weights_of(folder / "ranker.onnx")
        head = {name.removeprefix("head."): weights.pop(name) for name in ("head.weight", "head.bias")}
        ranker = cls(str(folder), weights)
        ranker.head.load_state_dict(head)
        return ranker

    def logits(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """What a file of this model gives for a pair, (N, L) each -> (N, L): logits of tokens that answer."""
        read = self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        scores: Tensor = self.head(read.last_hidden_state).squeeze(-1)
        return scores


class Judge(Cross):
    """See the module's docstring."""

    def __init__(self, folder: str, weights: Mapping[str, Tensor], *, layers: int = 4) -> None:
        super().__init__(folder, weights, layers=layers, types=4)
        self.head = nn.Linear(5 * self.bert.config.hidden_size, OUTPUTS)
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)

    def forward(self, claims: Tensor, evidence: Tensor) -> Tensor:
        """Three numbers for each pair: ids (N, L) and (N, M), as `joined` takes them -> (N, 3)."""
        ids, sides, full = joined(claims, evidence)
        is_word = (claims != 0) & (claims != FIRST) & (claims != LAST)
        same = (claims.unsqueeze(2) == evidence.unsqueeze(1)) & is_word.unsqueeze(2)
        both = torch.cat([same.any(2), same.any(1)[:, 1:]], dim=1)
        hidden = self.encode(ids, sides + 2 * both, full)
        first, second = (full * (sides == side) for side in (0, 1))
        one, other = (
            (hidden * part.unsqueeze(-1)).sum(1) / part.sum(1, keepdim=True).clamp(min=1) for part in (first, second)
        )
        compared: Tensor = self.head(torch.cat([hidden[:, 0], one, other, (one - other).abs(), one * other], dim=-1))
        return compared


def weights_of(path: Path) -> dict[str, Tensor]:
    """The weights of an exported encoder in full precision, under the names that `BertModel` gives them.

    Args:
        path: A file that `training.export` wrote: 8-bit numbers with their scales, or 32-bit ones.
    """
    graph = onnx.load(str(path)).graph
    stored: dict[str, Any] = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    plain = {name: value for name, value in stored.items() if not name.endswith((".i8", ".scale", ".columns"))}
    for name in (name.removesuffix(".i8") for name in stored if name.endswith(".i8")):
        scale = stored[f"{name}.scale" if f"{name}.scale" in stored else f"{name}.scale.columns"]
        plain[name] = stored[f"{name}.i8"].astype(np.float32) * scale
    named = {
        name.removeprefix("ranker.").removeprefix("bert."): value
        for name, value in plain.items()
        if name.startswith(("bert.", "ranker."))
    }
    for node in graph.node:
        weight = node.input[1].removesuffix(".i8") if node.op_type in {"MatMul", "MatMulInteger"} else ""
        if weight in plain:  # a product's weight has the name of its node alone, and that one is in its output's
            place = node.output[0].removesuffix(".i32").strip("/").removesuffix("/MatMul_output_0")
            named[f"{place.replace('/', '.').removeprefix('bert.')}.weight"] = plain[weight].T
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in named.items()}
