"""The reader: one encoder whose pooled vector finds passages and whose token vectors rank them and choose excerpts.

Late interaction (Khattab and Zaharia 2020, ColBERT) over the token vectors of all-MiniLM-L6-v2, with a learned weight
for each token of the question. A unit (sentence, list item, table row, code block, caption) of a passage scores

    exp(t) * (a own + b headed + c passage + d dense) + kind bias + e log(words)

`own`, `headed` and `passage` are the weighted means, over the question's tokens, of the best cosine among the tokens of
the unit, of the unit and its headings, and of the whole passage; `dense` is the cosine of the pooled vectors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertConfig, BertModel

from training.tokens import HEADING, KINDS

DIMENSION = 128
"""Dimension of the stored token vectors."""


@dataclass
class Batch:
    """Questions and passages as tensors.

    B questions, P passages, K of them compared with each question, L tokens, U units at most in a passage.
    """

    question_ids: Tensor
    question_mask: Tensor
    """(B, Lq), without special tokens: those that are compared."""
    question_full: Tensor
    """(B, Lq), all tokens."""
    idf: Tensor
    """(B, Lq): rarity of the word that a token belongs to."""
    passage_ids: Tensor
    passage_full: Tensor
    segments: Tensor
    """(P, L): segment of each token; U + 2 for padding and special tokens."""
    units: int
    kinds: Tensor
    """(P, U): index into `KINDS`; -1: no unit."""
    words: Tensor
    """(P, U): log of the number of words."""
    own: Tensor
    """(B, K): the passages that each question is compared with token by token."""

    def to(self, device: str) -> "Batch":
        """The same on another device."""
        return Batch(
            **{name: part.to(device) if isinstance(part, Tensor) else part for name, part in vars(self).items()}
        )


def bert(folder: str, weights: Mapping[str, Tensor], *, dropout: float = 0.0) -> Any:  # noqa: ANN401 - see mypy's settings
    """An encoder of the form that a folder's `config.json` describes; its weights are random if none are given."""
    config = BertConfig.from_pretrained(folder, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    made = BertModel(config, add_pooling_layer=False)
    if weights:
        made.load_state_dict(weights)
    return made


class Reader(nn.Module):
    """See the module's docstring.

    Args:
        folder: The encoder that training starts from, as `transformers` reads it; its `config.json` is enough if the
            weights come from elsewhere.
        weights: Of the encoder, by the names of `BertModel`; empty: they are loaded later; None: those in the folder.
    """

    def __init__(self, folder: str, weights: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        if weights is None:
            self.bert = BertModel.from_pretrained(folder, attn_implementation="sdpa", add_pooling_layer=False)
        else:
            self.bert = bert(folder, weights)
        width = self.bert.config.hidden_size
        self.project = nn.Linear(width, DIMENSION, bias=False)
        self.weigh = nn.Linear(width, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.zeros_(self.weigh.bias)
        self.rarity = nn.Parameter(torch.tensor(1.0))
        self.mix = nn.Parameter(torch.tensor([0.4, 0.6, 0.3, 0.3]))
        self.scale = nn.Parameter(torch.tensor(3.0))
        self.kind = nn.Parameter(torch.zeros(len(KINDS)))
        self.length = nn.Parameter(torch.tensor(0.0))
        self.answers = nn.Parameter(torch.tensor([0.3, -3.0]))
        """Slope and bias from the best unit's score to the odds that the book answers."""

    @torch.no_grad()
    def start_projection(self, sample: Tensor) -> None:
        """Let the projection begin with the principal directions of token vectors: (n, d)."""
        _, directions = torch.linalg.eigh(torch.cov(sample.T.double()))
        self.project.weight.copy_(directions.flip(1)[:, :DIMENSION].T.float())

    def encode(self, ids: Tensor, full: Tensor) -> tuple[Tensor, Tensor]:
        """Token vectors (N, L, d) and pooled vectors (N, d), both of length 1."""
        hidden = self.bert(input_ids=ids, attention_mask=full).last_hidden_state.float()
        pooled = (hidden * full.unsqueeze(-1)).sum(1) / full.sum(1, keepdim=True)
        return functional.normalize(hidden, dim=-1), functional.normalize(pooled, dim=-1)

    def weights(self, tokens: Tensor, mask: Tensor, idf: Tensor) -> Tensor:
        """How much each token of a question counts: (B, Lq), 1 in all."""
        logits = self.weigh(tokens).squeeze(-1) + self.rarity * torch.log1p(idf)
        return torch.softmax(logits.masked_fill(mask == 0, -1e4), dim=-1)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Scores: `units` (B, K, U) and `passage` (B, K) of a question's own passages, `dense` (B, P) of all."""
        question, question_pooled = self.encode(batch.question_ids, batch.question_full)
        passage, passage_pooled = self.encode(batch.passage_ids, batch.passage_full)
        share = self.weights(question, batch.question_mask, batch.idf)
        near, far = (functional.normalize(self.project(vectors), dim=-1) for vectors in (question, passage))
        similar = torch.einsum("bqd,bkld->bkql", near.float(), far.float()[batch.own])
        b, k, q, _ = similar.shape
        index = batch.segments[batch.own][:, :, None, :].expand(b, k, q, -1)
        best = similar.new_full((b, k, q, batch.units + 3), -1.0).scatter_reduce(
            3, index, similar, "amax", include_self=False
        )
        heading, units = best[..., HEADING], best[..., 2 : batch.units + 2]
        inside = best[..., : batch.units + 2].max(-1).values
        own = torch.einsum("bq,bkqu->bku", share, units)
        headed = torch.einsum("bq,bkqu->bku", share, torch.maximum(units, heading.unsqueeze(-1)))
        whole = torch.einsum("bq,bkq->bk", share, inside)
        dense = question_pooled @ passage_pooled.T
        a, b_, c, d = self.mix
        scores = a * own + b_ * headed + (c * whole + d * dense.gather(1, batch.own)).unsqueeze(-1)
        form = self.kind[batch.kinds.clamp(min=0)] + self.length * batch.words
        scores = torch.exp(self.scale) * scores + form[batch.own]
        scores = scores.masked_fill(batch.kinds[batch.own] < 0, -1e4)
        return {"units": scores, "passage": whole, "dense": dense}
