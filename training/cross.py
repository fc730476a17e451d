"""A cross-encoder that reads two texts together: a claim and its evidence.

The reader's own encoder, cut to its first layers. Tokens have four types: of the first text, of the second, and of
either one if the other one holds the same token; so what is repeated and what is not can be seen from the first layer
on. From the last layer's vectors h, u (mean of the first text) and v (mean of the second) three numbers are computed:

    W [h(CLS), u, v, |u - v|, u v] + b

A softmax over them says whether the second text states the first, denies it, or does neither. The comparison of u and v
is that of Conneau et al. 2017 (InferSent).
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from transformers import BertModel

LAYERS = 4
STATES, DENIES, NEITHER, NOT_STATED = 0, 1, 2, 3
"""Labels; the last one is either of the two before it."""
OUTPUTS = 3
TYPES = 4


class Cross(nn.Module):
    """See the module's docstring.

    Args:
        base: The folder of the encoder that the reader was trained from, as `transformers` reads it.
        reader: Folder of an exported reader, whose weights it begins with.
    """

    def __init__(self, base: str, reader: Path) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(base, attn_implementation="sdpa", add_pooling_layer=False)
        self.bert.load_state_dict(weights_of(reader / "model.onnx"), strict=True)
        self.bert.encoder.layer = self.bert.encoder.layer[:LAYERS]
        known = self.bert.embeddings.token_type_embeddings.weight.data
        wider = nn.Embedding(TYPES, known.shape[1])
        wider.weight.data = torch.cat([known] * (TYPES // len(known)))
        self.bert.embeddings.token_type_embeddings = wider
        self.bert.config.type_vocab_size = TYPES
        for table in (self.bert.embeddings.word_embeddings, self.bert.embeddings.position_embeddings):
            table.weight.requires_grad = False
        self.head = nn.Linear(5 * known.shape[1], OUTPUTS)
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, types: Tensor, full: Tensor) -> Tensor:
        """Three numbers for each pair: (N, L), (N, L) and (N, L), 1 where there is a token, -> (N, 3)."""
        hidden = self.bert(input_ids=ids, attention_mask=full, token_type_ids=types).last_hidden_state
        first = (full * (types % 2 == 0)).unsqueeze(-1).to(hidden.dtype)
        second = (full * (types % 2 == 1)).unsqueeze(-1).to(hidden.dtype)
        one = (hidden * first).sum(1) / first.sum(1).clamp(min=1)
        other = (hidden * second).sum(1) / second.sum(1).clamp(min=1)
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
    named = {name.removeprefix("bert."): value for name, value in plain.items() if name.startswith("bert.")}
    for node in graph.node:
        weight = node.input[1].removesuffix(".i8") if node.op_type in {"MatMul", "MatMulInteger"} else ""
        if weight in plain:  # a product's weight has the name of its node alone, and that one is in its output's
            place = node.output[0].removesuffix(".i32").strip("/").removesuffix("/MatMul_output_0")
            named[f"{place.replace('/', '.').removeprefix('bert.')}.weight"] = plain[weight].T
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in named.items()}
