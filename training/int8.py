"""Rewrite an exported encoder so that its 8-bit weights are multiplied as 8-bit numbers.

`export.quantise` stores 8-bit weights with a scale for each output, but converts them to 32 bits before multiplying.
That takes four times the memory, and a short question costs as much as reading it all. Here each product
becomes `MatMulInteger`: the input's rows are scaled to length 1 (in the maximum norm), quantised to 8 bits (ONNX's
`DynamicQuantizeLinear`), multiplied with the file's own 8-bit weights, and scaled back. Scaling each row first prevents
a token with large values from costing the others precision ("per-token" activations in Xiao et al. 2023, SmoothQuant).
"""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

AXES_ARE_INPUT = 18
"""Version of ONNX's operators from which `ReduceMax` takes its axes as an input."""
CONTRIB = "com.microsoft"
"""ONNX Runtime's own operators; `Gelu` is one of them."""


def multiply_as_integers(model: Any) -> None:  # noqa: ANN401 - `onnx` has no annotations that hold
    """Put `MatMulInteger` wherever a model converts 8-bit weights to 32 bits."""
    version = max((item.version for item in model.opset_import if item.domain in {"", "ai.onnx"}), default=0)
    rewriting = _Rewriting(model.graph, version=version)
    nodes = [made for node in model.graph.node for made in rewriting.rewritten(node)]
    results = {output.name for output in model.graph.output}
    count = 0
    while count != len(nodes):  # remove the nodes that only produced the 32-bit weights, one after another
        count = len(nodes)
        used = results.union(*(node.input for node in nodes))
        nodes = [node for node in nodes if used.intersection(node.output)]
    tensors = [tensor for tensor in (*model.graph.initializer, *rewriting.tensors) if tensor.name in used]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(tensors)
    if any(node.domain == CONTRIB for node in nodes) and all(item.domain != CONTRIB for item in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid(CONTRIB, 1))


class _Rewriting:
    """One pass over a graph. The annotations of `onnx` are unusable, hence `Any`."""

    def __init__(self, graph: Any, *, version: int) -> None:  # noqa: ANN401 - see above
        self._axes_are_input = version >= AXES_ARE_INPUT
        self._stored = {tensor.name: tensor for tensor in graph.initializer}
        self._made_by = {name: node for node in graph.node for name in node.output}
        self._quantised: set[str] = set()
        self.tensors: list[Any] = []
        """Initializers that the new nodes need."""
        self._tensor("i8.tiny", np.array(1e-12, dtype=np.float32))
        self._tensor("i8.last", np.array([-1], dtype=np.int64))

    def rewritten(self, node: Any) -> list[Any]:  # noqa: ANN401 - see above
        """Return the nodes that replace a node."""
        if node.op_type == "Where" and self._guards_softmax(node):
            return [helper.make_node("Identity", [node.input[2]], list(node.output))]
        if node.op_type == "Mul" and (x := self._gelu_of(node)):
            return [helper.make_node("Gelu", [x], list(node.output), domain=CONTRIB)]
        place = {"MatMul": 1, "Gather": 0}.get(node.op_type)
        packed = self._packed(node.input[place]) if place is not None else None
        if packed is None:
            return [node]
        return self._product(node, *packed) if node.op_type == "MatMul" else self._rows(node, *packed)

    def _packed(self, name: str) -> tuple[str, str] | None:
        """Return the names of the 8-bit numbers and their scales, if an input is their product."""
        scaled = self._made_by.get(name)
        cast = self._made_by.get(scaled.input[0]) if scaled is not None and scaled.op_type == "Mul" else None
        if scaled is None or cast is None or cast.op_type != "Cast":
            return None
        numbers, scales = self._stored.get(cast.input[0]), self._stored.get(scaled.input[1])
        return (cast.input[0], scaled.input[1]) if numbers is not None and scales is not None else None

    def _guards_softmax(self, node: Any) -> bool:  # noqa: ANN401 - see above
        """Return whether this node guards a softmax against NaN. Safe to remove: no row is ever fully masked."""
        asks, softmax = self._made_by.get(node.input[0]), self._made_by.get(node.input[2])
        return (
            asks is not None
            and softmax is not None
            and (asks.op_type, softmax.op_type) == ("IsNaN", "Softmax")
            and asks.input[0] == node.input[2]
        )

    def _gelu_of(self, node: Any) -> str:  # noqa: ANN401 - see above
        """Return the x of x * (0.5 * (1 + erf(x / sqrt(2)))) if the product is the last of these five operations."""
        x, name = node.input
        for kind, number in (("Mul", 0.5), ("Add", 1.0), ("Erf", None), ("Div", np.sqrt(2))):
            made = self._made_by.get(name)
            if made is None or made.op_type != kind:
                return ""
            numbers = [float(value) for value in map(self._scalar, made.input) if value is not None]
            if number is not None and not any(np.isclose(value, number) for value in numbers):
                return ""
            name = next((item for item in made.input if self._scalar(item) is None), "")
        return str(x) if x == name else ""

    def _scalar(self, name: str) -> float | None:
        """Return an initializer that is a single number."""
        tensor = self._stored.get(name)
        value = numpy_helper.to_array(tensor) if tensor is not None else None
        return float(value.ravel()[0]) if value is not None and value.size == 1 else None

    def _rows(self, node: Any, numbers: str, scales: str) -> list[Any]:  # noqa: ANN401 - see above
        """Look rows up in a table, and convert only those to 32 bits."""
        out, taken = node.output[0], node.input[1]
        return [
            helper.make_node("Gather", [numbers, taken], [f"{out}.row8"], axis=0),
            helper.make_node("Gather", [scales, taken], [f"{out}.rowscale"], axis=0),
            helper.make_node("Cast", [f"{out}.row8"], [f"{out}.row32"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{out}.row32", f"{out}.rowscale"], [out]),
        ]

    def _product(self, node: Any, numbers: str, scales: str) -> list[Any]:  # noqa: ANN401 - see above
        """Compute x @ (numbers x scales), where `scales` has one number for each column."""
        weight = numpy_helper.to_array(self._stored[numbers])
        columns = numpy_helper.to_array(self._stored[scales]).astype(np.float32).ravel()
        if weight.dtype != np.int8 or weight.ndim != 2 or columns.size not in {1, weight.shape[1]}:
            return [node]
        x, out = node.input[0], node.output[0]
        self._tensor(f"{scales}.columns", columns)
        return [
            *self._quantisation(x),
            helper.make_node("MatMulInteger", [f"{x}.i8", numbers, f"{x}.zero"], [f"{out}.i32"]),
            helper.make_node("Cast", [f"{out}.i32"], [f"{out}.f32"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{x}.step", f"{scales}.columns"], [f"{out}.scale"]),
            helper.make_node("Mul", [f"{out}.f32", f"{out}.scale"], [f"{out}.scaled"]),
            helper.make_node("Mul", [f"{out}.scaled", f"{x}.size"], [out]),
        ]

    def _quantisation(self, x: str) -> list[Any]:
        """Add the nodes of `x.i8`, `x.step`, `x.zero` and `x.size` (each row's largest number), once for each x."""
        if x in self._quantised:
            return []
        self._quantised.add(x)
        if self._axes_are_input:
            largest = helper.make_node("ReduceMax", [f"{x}.abs", "i8.last"], [f"{x}.max"], keepdims=1)
        else:
            largest = helper.make_node("ReduceMax", [f"{x}.abs"], [f"{x}.max"], axes=[-1], keepdims=1)
        return [
            helper.make_node("Abs", [x], [f"{x}.abs"]),
            largest,
            helper.make_node("Add", [f"{x}.max", "i8.tiny"], [f"{x}.size"]),
            helper.make_node("Div", [x, f"{x}.size"], [f"{x}.even"]),
            helper.make_node("DynamicQuantizeLinear", [f"{x}.even"], [f"{x}.i8", f"{x}.step", f"{x}.zero"]),
        ]

    def _tensor(self, name: str, value: "np.ndarray[Any, Any]") -> None:
        if name not in self._stored:
            self._stored[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
            self.tensors.append(self._stored[name])
