"""An exported encoder multiplies its own 8-bit weights: nearly the same vectors, in less time and memory."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from training.int8 import multiply_as_integers

ROWS, WIDTH, COLUMNS = 50, 96, 32


def small_model() -> bytes:
    """Rows of an 8-bit table, times an 8-bit matrix, times a 32-bit one: (1, n) int64 -> (1, n, COLUMNS)."""
    random = np.random.default_rng(7)
    tensors = [
        numpy_helper.from_array(random.integers(-127, 128, (ROWS, WIDTH), dtype=np.int8), "table"),
        numpy_helper.from_array(random.uniform(0.001, 0.1, (ROWS, 1)).astype(np.float32), "table.scale"),
        numpy_helper.from_array(random.integers(-127, 128, (WIDTH, COLUMNS), dtype=np.int8), "weight"),
        numpy_helper.from_array(random.uniform(0.001, 0.01, (1, COLUMNS)).astype(np.float32), "weight.scale"),
        numpy_helper.from_array(random.normal(size=(COLUMNS, COLUMNS)).astype(np.float32), "plain"),
    ]
    nodes = [
        helper.make_node("Cast", ["table"], ["table.f32"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["table.f32", "table.scale"], ["rows"]),
        helper.make_node("Gather", ["rows", "ids"], ["taken"], axis=0),
        helper.make_node("Cast", ["weight"], ["weight.f32"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["weight.f32", "weight.scale"], ["matrix"]),
        helper.make_node("MatMul", ["taken", "matrix"], ["middle"]),
        helper.make_node("MatMul", ["middle", "plain"], ["out"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, (1, "n"))],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, (1, "n", COLUMNS))],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = model.SerializeToString()
    return content


def converted(model: bytes) -> bytes:
    """A model with its products in 8 bits."""
    found = onnx.load_from_string(model)
    multiply_as_integers(found)
    content: bytes = found.SerializeToString()
    return content


def ran(model: bytes, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The output of a model."""
    session: Any = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    fed = {"input_ids": ids, "ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    found: npt.NDArray[np.float32] = session.run(None, {node.name: fed[node.name] for node in session.get_inputs()})[0]
    return found


def test_a_product_is_nearly_the_same_and_its_weights_stay_8_bit() -> None:
    """Rows of every size keep their precision; what was no 8-bit weight is multiplied as before."""
    ids = np.arange(ROWS, dtype=np.int64)[None]
    source, made = small_model(), converted(small_model())
    before, after = ran(source, ids)[0], ran(made, ids)[0]
    cosines = (before * after).sum(axis=1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    assert cosines.min() > 0.999
    assert np.allclose(np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1), 1, atol=0.02)
    kinds = [node.op_type for node in onnx.load_from_string(made).graph.node]
    assert kinds.count("MatMulInteger") == 1
    assert kinds.count("MatMul") == 1
    assert kinds.count("Gather") == 2
    assert len(made) < len(source) * 1.2


def test_a_row_of_zeros_stays_zero() -> None:
    """Nothing is divided by nothing."""
    model = onnx.load_from_string(small_model())
    table = next(tensor for tensor in model.graph.initializer if tensor.name == "table")
    table.CopyFrom(numpy_helper.from_array(np.zeros((ROWS, WIDTH), dtype=np.int8), "table"))
    found = ran(converted(model.SerializeToString()), np.array([[0, 1]], dtype=np.int64))
    assert not found.any()


def test_long_ways_round_become_one_step() -> None:
    """An exported GELU is one operator, and no softmax is asked whether it is a number."""
    one = [("root", np.sqrt(2)), ("one", 1.0), ("half", 0.5), ("none", 0.0)]
    nodes = [
        helper.make_node("Div", ["x", "root"], ["a"]),
        helper.make_node("Erf", ["a"], ["b"]),
        helper.make_node("Add", ["b", "one"], ["c"]),
        helper.make_node("Mul", ["half", "c"], ["d"]),
        helper.make_node("Mul", ["x", "d"], ["gelu"]),
        helper.make_node("Mul", ["gelu", "half"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["soft"], axis=-1),
        helper.make_node("IsNaN", ["soft"], ["strange"]),
        helper.make_node("Where", ["strange", "none", "soft"], ["out"]),
    ]
    places = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 7)) for name in ("x", "out")]
    tensors = [numpy_helper.from_array(np.array(value, dtype=np.float32), name) for name, value in one]
    graph = helper.make_graph(nodes, "ways", places[:1], places[1:], tensors)
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    made = converted(source)
    x = np.linspace(-3, 3, 7, dtype=np.float32)[None]
    before, after = (
        onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        for model in (source, made)
    )
    np.testing.assert_allclose(before, after, atol=1e-6)
    kinds = [node.op_type for node in onnx.load_from_string(made).graph.node]
    assert kinds == ["Gelu", "Mul", "Softmax", "Identity"]


@pytest.mark.model
def test_the_shipped_reader_multiplies_in_8_bits(models_dir: Path) -> None:
    """All its weights are 8-bit numbers, signed ones, which is fastest on new processors."""
    model = onnx.load_from_string((models_dir / "reader" / "model.onnx").read_bytes())
    stored = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    weights = [node.input[1] for node in model.graph.node if node.op_type == "MatMulInteger"]
    assert len(weights) == 6 * 6
    assert {stored[name] for name in weights} == {TensorProto.INT8}
