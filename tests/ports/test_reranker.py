"""The port Reranker, with a cross-encoder of two operations that the test writes itself."""

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from lutrin.adapters.rerank import MOST_WINDOWS, FastembedReranker, ReaderReranker, windows
from lutrin.errors import InvalidSettings, ModelMissing
from lutrin.index.disk import file_hash
from lutrin.ports import Reranker, View
from lutrin.runtime.profile import open_reranker
from lutrin.settings import load_settings

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "lays", "eggs", "smoke", "queen"]
INT64, FLOAT = 7, 1


def field(number: int, value: bytes | str | int) -> bytes:
    """One field of a protocol buffer: a number, or anything with a length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    """A number, seven bits a byte, the lowest first."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def node(operation: str, inputs: list[str], output: str, attributes: bytes = b"") -> bytes:
    """A `NodeProto` inside a graph."""
    return field(1, b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, operation) + attributes)


def value(number: int, name: str, kind: int, columns: str | int) -> bytes:
    """A `ValueInfoProto` of a batch: (batch, columns)."""
    width = field(1, field(1, columns) if isinstance(columns, int) else field(2, columns))
    shape = field(2, field(1, field(2, "batch")) + width)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + shape)))


def highest_word() -> bytes:
    """An ONNX model whose output is the highest token number in the passage: Cast, Mul and ReduceMax."""
    to_float = field(5, field(1, "to") + field(3, FLOAT) + field(20, 2))
    axes = field(5, field(1, "axes") + field(8, 1) + field(20, 7))
    graph = (
        node("Mul", ["input_ids", "token_type_ids"], "passage")
        + node("Cast", ["passage"], "numbers", to_float)
        + node("ReduceMax", ["numbers"], "logits", axes)
        + field(2, "highest word")
        + value(11, "input_ids", INT64, "length")
        + value(11, "token_type_ids", INT64, "length")
        + value(12, "logits", FLOAT, 1)
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The model with a tokenizer of nine words, as a folder of the manifest holds it."""
    folder = tmp_path / "tiny-reranker"
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, "pad_token": "[PAD]"}))
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    (folder / "model.onnx").write_bytes(highest_word())
    return folder / "model.onnx"


ENCODED = np.array([[0.0, 0.0]] * 8 + [[1.0, -1.0]], dtype=np.float32)
"""What `encoder` gives for each word: its last one, *queen*, alone is not zero."""


def encoder() -> bytes:
    """An ONNX model that ends at its encoder: the vector of the highest token number, (batch, 1 token, 2 numbers)."""
    axes = field(5, field(1, "axes") + field(8, 1) + field(20, 7))
    table = field(1, len(ENCODED)) + field(1, 2) + field(2, FLOAT) + field(8, "table") + field(9, ENCODED.tobytes())
    shape = field(2, b"".join(field(1, size) for size in (field(2, "batch"), field(1, 1), field(1, 2))))
    graph = (
        node("Mul", ["input_ids", "token_type_ids"], "passage")
        + node("ReduceMax", ["passage"], "highest", axes)
        + node("Gather", ["table", "highest"], "last_hidden_state")
        + field(2, "encoder")
        + field(5, table)
        + value(11, "input_ids", INT64, "length")
        + value(11, "token_type_ids", INT64, "length")
        + field(12, field(1, "last_hidden_state") + field(2, field(1, field(1, FLOAT) + shape)))
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def safetensors(path: Path, kind: str, **layers: np.ndarray) -> None:
    """A file of layers; their names have a dot where these have two underscores."""
    header, data = {}, b""
    for name, numbers in layers.items():
        wide = numbers.astype("<f4")
        raw = (
            (wide.view("<u4") >> 16).astype("<u2") if kind == "BF16" else wide.astype("<f2" if kind == "F16" else "<f4")
        )
        at = len(data)
        data += raw.tobytes()
        header[name.replace("__", ".")] = {"dtype": kind, "shape": numbers.shape, "data_offsets": [at, len(data)]}
    text = json.dumps({"__metadata__": {}, **header}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def with_head(model: Path, kind: str) -> None:
    """Replace a model by one that ends at its encoder, with the last layers beside it."""
    model.write_bytes(encoder())
    safetensors(model.parent / "dense.safetensors", kind, linear__weight=np.eye(2))
    safetensors(model.parent / "norm.safetensors", kind, norm__weight=np.ones(2), norm__bias=np.zeros(2))
    score = {"linear__weight": np.array([[2.0, 1.0]]), "linear__bias": np.array([0.5])}
    safetensors(model.parent / "score.safetensors", kind, **score)


async def odds(reranker: Reranker, question: str, texts: list[str]) -> np.ndarray:
    """The odds of each passage from a reranker without token scores."""
    judged = await reranker.judge(question, [View(text, 0, 0) for text in texts])
    assert all(not len(one.tokens) for one in judged)
    return np.array([one.passage for one in judged])


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16"])
async def test_a_model_that_ends_at_its_encoder_is_finished_here(model: Path, kind: str) -> None:
    """Dense, GELU, layer norm, dense: (1, -1) becomes (.84, -.16), then (1, -1), then 2 - 1 + .5."""
    with_head(model, kind)
    reranker = FastembedReranker(model, name="tiny-encoder")
    logits = await odds(reranker, "who lays eggs", ["smoke", "queen", *["eggs"] * 10])
    assert logits[1] == pytest.approx(1.5, abs=1e-3)
    assert np.delete(logits, 1) == pytest.approx(0.5, abs=1e-3)


def manifest(folder: Path, file: Path, role: str = "rerank") -> None:
    """A manifest that names the model."""
    (folder / "manifest.toml").write_text(
        f'format = 1\n[[model]]\nname = "tiny-reranker"\nrole = "{role}"\ntier = "rerank"\nsummary = ""\n'
        f'licence = "Apache-2.0"\nfolder = "tiny-reranker"\n[[model.file]]\nname = "model.onnx"\n'
        f'size = {file.stat().st_size}\nsha256 = "{file_hash(file)}"\n'
    )


async def test_the_passage_that_answers_scores_highest(model: Path) -> None:
    """Log odds, one for each passage, in their order; more passages than a batch holds are read."""
    reranker = FastembedReranker(model, name="tiny-reranker")
    scores = await odds(reranker, "who lays eggs", ["smoke", "queen", *["eggs"] * 10])
    assert scores.shape == (12,)
    assert scores.argmax() == 1
    assert scores[0] > scores[2] == scores[11]


async def test_missing_files_are_named(model: Path) -> None:
    """Which, and what to do."""
    (model.parent / "tokenizer.json").unlink()
    with pytest.raises(ModelMissing, match=r"tokenizer\.json") as caught:
        await odds(FastembedReranker(model, name="tiny-reranker-2"), "who", ["queen"])
    assert "models fetch" in caught.value.remedy


def test_the_settings_name_it(model: Path, tmp_path: Path) -> None:
    """None if it says so; one of the manifest by its name or tier; anything else is refused in words."""
    manifest(tmp_path, model)
    assert open_reranker(load_settings(models_dir=tmp_path, rerank="none")) is None
    chosen = open_reranker(load_settings(models_dir=tmp_path, rerank="rerank"))
    assert chosen is not None
    assert chosen.name == "tiny-reranker"
    model.unlink()
    with pytest.raises(ModelMissing, match=r"model\.onnx is missing"):
        open_reranker(load_settings(models_dir=tmp_path, rerank="rerank"))
    with pytest.raises(InvalidSettings, match="no cross-encoder another"):
        open_reranker(load_settings(models_dir=tmp_path, rerank="another"))


def test_only_a_cross_encoder_will_do(model: Path, tmp_path: Path) -> None:
    """A language model cannot rerank."""
    manifest(tmp_path, model, role="generate")
    with pytest.raises(InvalidSettings, match="no cross-encoder rerank"):
        open_reranker(load_settings(models_dir=tmp_path, rerank="rerank"))


QUESTION = "Who lays the eggs of a hive?"
TEXT = "Bees > The hive\nA hive is a box of wood. Its queen lays all of the eggs. Smoke calms the bees."


async def test_ours_tells_the_tokens_that_answer() -> None:
    """The sentence that answers has the likeliest token; headings are read along; it is the default."""
    reranker = open_reranker(load_settings())
    assert isinstance(reranker, ReaderReranker)
    body, focus = TEXT.index("A hive"), TEXT.index("Its queen")
    (one,) = await reranker.judge(QUESTION, [View(TEXT, body, focus)])
    assert len(one.tokens) == len(one.offsets)
    start, _ = one.offsets[int(one.tokens.argmax())].tolist()
    assert focus <= start < TEXT.index("Smoke")
    assert one.offsets[0].tolist() == [0, len("Bees")]
    (other,) = await reranker.judge("How tall is a giraffe?", [View(TEXT, body, focus)])
    assert other.passage < one.passage
    reranker.close()


def test_a_window_holds_the_headings_and_what_is_in_focus() -> None:
    """A third of it at most are headings; a short passage is read whole, and a window never leaves the passage."""
    starts = np.arange(400, dtype=np.int32)
    (seen,) = windows(starts, View("x" * 400, body=100, focus=300))
    assert seen[:42].tolist() == list(range(42))
    assert seen[42] < 300 < seen[-1]
    assert len(seen) == 126
    (last,) = windows(starts, View("x" * 400, body=10, focus=399))
    assert last[-1] == 399
    assert len(last) == 126
    (short,) = windows(starts[:50], View("x" * 50, body=10, focus=40))
    assert short.tolist() == list(range(50))


def test_windows_hold_a_whole_passage_that_is_not_too_long() -> None:
    """Each begins with the headings; of a longer passage they hold the stretch around the focus."""
    starts = np.arange(2_000, dtype=np.int32)
    found = windows(starts[:300], View("x" * 300, body=20, focus=250, whole=True))
    assert set(np.concatenate(found).tolist()) == set(range(300))
    assert all(one[:20].tolist() == list(range(20)) and len(one) <= 126 for one in found)
    cut = windows(starts, View("x" * 2_000, body=20, focus=1_500, whole=True))
    assert len(cut) == MOST_WINDOWS
    assert 1_500 in np.concatenate(cut)
    assert np.unique(np.concatenate(cut)).size == 20 + MOST_WINDOWS * 106
