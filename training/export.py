"""Write a trained reader as Lutrin loads it: an int8 ONNX encoder, and `reader.json` with what was learned beside it.

A trained ranker becomes a second file beside it, with a logit for each token. It has the encoder's table of words from
`model.onnx` (external data, as ONNX calls it), because no run on an accelerator changes that table.

Weights of matrix products and the word embeddings become 8-bit numbers with one scale for each output column (row, for
embeddings), and products are computed in 8 bits (`int8.py`).
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from training.cross import Ranker
from training.int8 import multiply_as_integers
from training.model import Reader
from training.tokens import KINDS

LEAST = 4096
"""Numbers of a weight that is worth 8 bits."""
TOKENIZER = ("tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
SENTENCE = "What is the sensorimotor loop of a robot?"
ANSWER = (
    "Robots are machines in the world. A robot senses what is around it, decides and acts, and its act changes what it "
    "senses next: this circle is called the sensorimotor loop. How fast it runs depends on the task."
)
LEAST_CORRELATION = 0.95
"""Least correlation of logits; a ranker after thirty steps, whose logits hardly differ, reaches .98."""
LEAST_AGREEMENT = 0.997
"""Cosine to full precision that is needed: 8-bit weights alone reach 0.999, with 8-bit inputs of products 0.998."""


class _Encoder(torch.nn.Module):
    """The encoder alone, with the inputs of its publisher's export."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.bert = reader.bert

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> Any:  # noqa: ANN401
        """Token vectors (1, L, d)."""
        return self.bert(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state


class _Ranking(torch.nn.Module):
    """A ranker with the same inputs."""

    def __init__(self, ranker: Ranker) -> None:
        super().__init__()
        self.ranker = ranker

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> Any:  # noqa: ANN401
        """(1, L): see `Ranker.logits`."""
        return self.ranker.logits(input_ids, attention_mask, token_type_ids)


def export(weights: Path, base: Path, folder: Path) -> None:
    """Write a trained reader into a folder, all files that Lutrin loads.

    Args:
        weights: As `train` wrote them.
        base: Has the tokenizer and `config.json` of the encoder.
        folder: Is made.

    Raises:
        RuntimeError: What was written computes something else.
    """
    reader = Reader(str(base), {})
    reader.load_state_dict(torch.load(weights))
    reader.eval()
    expected = vectors_of(reader, base)
    write(reader, folder)
    for name in TOKENIZER:
        shutil.copyfile(base / name, folder / name)
    found = onnxruntime.InferenceSession(str(folder / "model.onnx")).run(None, inputs(base))[0]
    agreement = float((expected * found).sum() / np.sqrt((expected**2).sum() * (found**2).sum()))
    print(f"{folder}: {(folder / 'model.onnx').stat().st_size:,} bytes, cosine to full precision {agreement:.5f}")
    if agreement < LEAST_AGREEMENT:
        raise RuntimeError(f"{folder / 'model.onnx'} computes something else than {weights}")


def export_ranker(weights: Path, base: Path, folder: Path) -> None:
    """Write a trained ranker beside the reader of a folder; it counts as the one before it until `ranking` fits it.

    Args:
        weights: As `unpack` wrote them.
        base: Has the numbers of the ranker before it.
        folder: Of an exported reader, whose table of words the ranker has.

    Raises:
        RuntimeError: It has another table, or what was written computes something else.
    """
    ranker = Ranker(str(folder), {})
    ranker.load_state_dict(torch.load(weights))
    ranker.eval()
    path = folder / "ranker.onnx"
    write_graph(_Ranking(ranker).eval(), ranker.bert, path, "tokens")
    model = onnx.load(str(path))
    share_words(model, folder / "model.onnx")
    path.write_bytes(model.SerializeToString(deterministic=True))
    if not (folder / "ranker.json").exists():
        shutil.copyfile(base / "ranker.json", folder / "ranker.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    pair = tokenizer.encode(SENTENCE, ANSWER)
    given = {
        name: np.array([value])
        for name, value in zip(INPUTS, (pair.ids, pair.attention_mask, pair.type_ids), strict=True)
    }
    with torch.no_grad():
        expected = ranker.logits(*(torch.from_numpy(value) for value in given.values())).numpy()
    found = onnxruntime.InferenceSession(str(path)).run(None, given)[0]
    is_read = np.array(pair.type_ids) == 1  # of the question's own tokens it has learned nothing
    agreement = float(np.corrcoef(expected[0, is_read], found[0, is_read])[0, 1])
    print(f"{path}: {path.stat().st_size:,} bytes, correlation with full precision {agreement:.5f}")
    if agreement < LEAST_CORRELATION:
        raise RuntimeError(f"{path} computes something else than {weights}")


def share_words(model: Any, other: Path) -> None:  # noqa: ANN401 - `onnx` has no annotations that hold
    """Let a model take its largest 8-bit table from the file of another one.

    Raises:
        RuntimeError: That file does not hold the same table.
    """
    table = max(model.graph.initializer, key=lambda tensor: len(tensor.raw_data))
    content = other.read_bytes()
    offset = content.find(table.raw_data)
    if offset < 0:
        raise RuntimeError(f"{other} has another table of words.")
    size = len(table.raw_data)
    table.ClearField("raw_data")
    table.data_location = TensorProto.EXTERNAL
    for key, value in (("location", other.name), ("offset", offset), ("length", size)):
        table.external_data.add(key=key, value=str(value))


def inputs(base: Path) -> dict[str, Any]:
    """A sentence as the encoder reads it."""
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    ids = np.array([tokenizer.encode(SENTENCE).ids])
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def vectors_of(reader: Reader, base: Path) -> Any:  # noqa: ANN401 - NumPy's arrays, in an environment without types
    """Token vectors of that sentence in full precision, (1, L, d)."""
    with torch.no_grad():
        given = {name: torch.from_numpy(value) for name, value in inputs(base).items()}
        return reader.bert(**given).last_hidden_state.numpy()


def write(reader: Reader, folder: Path) -> None:
    """Write `model.onnx`, `projection.npy` and `reader.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_graph(_Encoder(reader), reader.bert, folder / "model.onnx", "hidden")
    np.save(
        folder / "projection.npy", np.ascontiguousarray(reader.project.weight.detach().numpy().T.astype(np.float32))
    )
    (folder / "reader.json").write_text(json.dumps(learned(reader), indent=1) + "\n")


def write_graph(module: torch.nn.Module, bert: Any, path: Path, output: str) -> None:  # noqa: ANN401 - a model, in an environment without types
    """Write a module over an encoder with products in 8 bits."""
    bert.set_attn_implementation("eager")
    example = torch.ones(1, 12, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in (*INPUTS, output)}
    with torch.no_grad():
        torch.onnx.export(
            module, (example, example, torch.zeros_like(example)), str(path), dynamo=False, input_names=list(INPUTS),
            output_names=[output], dynamic_axes=axes, opset_version=17,
        )  # fmt: skip
    model = onnx.load(str(path))
    quantise(model)
    multiply_as_integers(model)
    path.write_bytes(model.SerializeToString(deterministic=True))


def learned(reader: Reader) -> dict[str, Any]:
    """What `lutrin.ports.Reading` holds, as plain numbers."""
    own, headed, passage, dense = (round(float(value), 5) for value in reader.mix.detach())
    return {
        "token": [round(float(value), 5) for value in reader.weigh.weight[0]],
        "rarity": round(float(reader.rarity), 5),
        "own": own,
        "headed": headed,
        "passage": passage,
        "dense": dense,
        "scale": round(float(torch.exp(reader.scale)), 4),
        "kinds": {name: round(float(value), 4) for name, value in zip(KINDS, reader.kind, strict=True)},
        "length": round(float(reader.length), 4),
        "lexical": 0.0,
        "answers": [round(float(value), 4) for value in reader.answers],
        "scope": [],
    }


def quantise(model: Any) -> None:  # noqa: ANN401 - `onnx` has no annotations that hold
    """Replace large weights by 8-bit numbers, a cast and a product with their scales."""
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    place = {"MatMul": 1, "Gather": 0}
    wanted = {
        node.input[place[node.op_type]]: node.op_type
        for node in graph.node
        if node.op_type in place and node.input[place[node.op_type]] in stored
    }
    nodes, tensors = [], []
    for name, kind in wanted.items():
        weight = numpy_helper.to_array(stored[name])
        if weight.ndim != 2 or weight.size < LEAST or weight.dtype != np.float32:
            continue
        axis = 0 if kind == "MatMul" else 1
        scale = np.maximum(np.abs(weight).max(axis=axis, keepdims=True), 1e-12) / 127
        numbers = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
        graph.initializer.remove(stored[name])
        tensors += [
            numpy_helper.from_array(numbers, f"{name}.i8"),
            numpy_helper.from_array(scale.astype(np.float32), f"{name}.scale"),
        ]
        nodes += [
            helper.make_node("Cast", [f"{name}.i8"], [f"{name}.cast"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}.cast", f"{name}.scale"], [name]),
        ]
    graph.initializer.extend(tensors)
    kept = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *kept])
