"""The embedding model multiplies its own 8-bit weights: nearly the same vectors, in less time and memory."""

import platform
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from lutrin.adapters import embed_int8
from lutrin.adapters.embed_fastembed import FILES, FastembedEmbedder
from lutrin.platform import processor_description

ROWS, WIDTH, COLUMNS = 50, 96, 32
SIGNED = embed_int8.multiplies_signed(platform.machine(), processor_description())
"""How this processor multiplies 8-bit numbers exactly."""
TEXTS = (
    "How far can the depth camera see?",
    "The gait is a pattern of steps. " * 12,
    "ros2 topic echo /cmd_vel",
    "Zero-moment point",
)


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


def ran(model: bytes, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """What a model gives."""
    session: Any = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    fed = {"input_ids": ids, "ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    found: npt.NDArray[np.float32] = session.run(None, {node.name: fed[node.name] for node in session.get_inputs()})[0]
    return found


def test_a_product_is_nearly_the_same_and_its_weights_stay_8_bit() -> None:
    """Rows of every size keep their precision; what was no 8-bit weight is multiplied as before."""
    ids = np.arange(ROWS, dtype=np.int64)[None]
    source, converted = small_model(), embed_int8.convert(small_model(), signed=SIGNED)
    before, after = ran(source, ids)[0], ran(converted, ids)[0]
    cosines = (before * after).sum(axis=1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    assert cosines.min() > 0.999
    assert np.allclose(np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1), 1, atol=0.02)
    kinds = [node.op_type for node in onnx.load_from_string(converted).graph.node]
    assert kinds.count("MatMulInteger") == 1
    assert kinds.count("MatMul") == 1
    assert kinds.count("Gather") == 2
    assert len(converted) < len(source) * 1.2


def test_unsigned_weights_give_the_very_same() -> None:
    """Indexes may be read on processors of either kind."""
    ids = np.array([[3, 1, 4, 1, 5]], dtype=np.int64)
    signed, unsigned = (ran(embed_int8.convert(small_model(), signed=sign), ids) for sign in (True, False))
    if SIGNED:
        np.testing.assert_array_equal(signed, unsigned)
    assert np.isfinite(unsigned).all()


def test_a_row_of_zeros_stays_zero() -> None:
    """Nothing is divided by nothing."""
    model = onnx.load_from_string(small_model())
    table = next(tensor for tensor in model.graph.initializer if tensor.name == "table")
    table.CopyFrom(numpy_helper.from_array(np.zeros((ROWS, WIDTH), dtype=np.int8), "table"))
    found = ran(embed_int8.convert(model.SerializeToString(), signed=True), np.array([[0, 1]], dtype=np.int64))
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
    converted = embed_int8.convert(source, signed=True)
    x = np.linspace(-3, 3, 7, dtype=np.float32)[None]
    before, after = (
        onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        for model in (source, converted)
    )
    np.testing.assert_allclose(before, after, atol=1e-6)
    kinds = [node.op_type for node in onnx.load_from_string(converted).graph.node]
    assert kinds == ["Gelu", "Mul", "Softmax", "Identity"]


@pytest.mark.parametrize(
    ("processor", "cpuinfo", "expected"),
    [
        ("x86_64", "flags: avx2 avx512_vnni", True),
        ("x86_64", "flags: avx2 avx_vnni", True),
        ("x86_64", "flags: sse4_2 avx2 avx512f", False),
        ("AMD64", "", False),
        ("aarch64", "", True),
    ],
)
def test_processors_whose_sums_overflow_take_the_other_way(processor: str, cpuinfo: str, *, expected: bool) -> None:
    """On x86 without VNNI two products of signed weights are added in 16 bits."""
    assert embed_int8.multiplies_signed(processor, cpuinfo) is expected


@pytest.mark.model
async def test_real_vectors_point_where_those_of_the_file_as_shipped_do(models_dir: Path) -> None:
    """Short and long texts, prose and code."""
    directory = models_dir / "reader"
    embedder = FastembedEmbedder(directory)
    encoded = await embedder.encode(TEXTS)
    embedder.close()
    shipped = (directory / "model.onnx").read_bytes()
    for text, found in zip(TEXTS, encoded, strict=True):
        tokens = embedder._tokens()
        ids = np.array([tokens.encode(text).ids], dtype=np.int64)
        pooled = ran(shipped, ids)[0].mean(axis=0)
        assert float(pooled @ found.windows[0]) / np.linalg.norm(pooled) > 0.98


@pytest.mark.model
def test_the_converted_model_is_made_once_and_made_again_when_it_was_changed(models_dir: Path, tmp_path: Path) -> None:
    """A flipped byte is found before the file is loaded."""
    directory, keep = models_dir / "reader", tmp_path / "kept"
    first = embed_int8.prepared(directory, FILES, keep)
    made = (first / FILES[0]).stat().st_mtime_ns
    assert embed_int8.prepared(directory, FILES, keep) == first
    assert (first / FILES[0]).stat().st_mtime_ns == made
    content = (first / FILES[0]).read_bytes()
    (first / FILES[0]).write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    again = embed_int8.prepared(directory, FILES, keep)
    assert (again / FILES[0]).read_bytes() == content
    assert [path.name for path in keep.iterdir()] == [again.name]


@pytest.mark.model
async def test_where_nothing_can_be_kept_it_works_all_the_same(models_dir: Path, tmp_path: Path) -> None:
    """A full disk or a folder that cannot be written costs time at each start, no more."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    embedder = FastembedEmbedder(models_dir / "reader", keep=tmp_path / "file" / "kept")
    (found,) = await embedder.encode(["torque"])
    embedder.close()
    assert found.windows.shape == (1, 384)
