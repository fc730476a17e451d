"""The port Reranker, with a cross-encoder of two operations that the test writes itself."""

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from lutrin.adapters.rerank_fastembed import FastembedReranker
from lutrin.errors import InvalidSettings, ModelMissing
from lutrin.keep import weights
from lutrin.runtime.language_model import open_reranker
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


def manifest(folder: Path, file: Path, role: str = "rerank") -> None:
    """A manifest that names the model."""
    (folder / "manifest.toml").write_text(
        f'format = 1\n[[model]]\nname = "tiny-reranker"\nrole = "{role}"\ntier = "rerank"\nsummary = ""\n'
        f'licence = "Apache-2.0"\nfolder = "tiny-reranker"\n[[model.file]]\nname = "model.onnx"\n'
        f'size = {file.stat().st_size}\nsha256 = "{weights.sha256_of(file)}"\n'
    )


async def test_the_passage_that_answers_scores_highest(model: Path) -> None:
    """Scores are between 0 and 1, one for each passage, in their order; more passages than a batch holds are read."""
    reranker = FastembedReranker(model, name="tiny-reranker")
    scores = await reranker.scores("who lays eggs", ["smoke", "queen", *["eggs"] * 10])
    assert scores.shape == (12,)
    assert scores.argmax() == 1
    assert all(0 < score < 1 for score in scores)
    assert scores[0] > scores[2] == scores[11]


async def test_missing_files_are_named(model: Path) -> None:
    """Which, and what to do."""
    (model.parent / "tokenizer.json").unlink()
    with pytest.raises(ModelMissing, match=r"tokenizer\.json") as caught:
        await FastembedReranker(model, name="tiny-reranker-2").scores("who", ["queen"])
    assert "models fetch" in caught.value.remedy


def test_the_settings_name_it(model: Path, tmp_path: Path) -> None:
    """None by default; one of the manifest by its name or tier; anything else is refused in words."""
    manifest(tmp_path, model)
    assert open_reranker(load_settings(models_dir=tmp_path)) is None
    chosen = open_reranker(load_settings(models_dir=tmp_path, rerank="rerank"))
    assert chosen is not None
    assert chosen.name == "tiny-reranker"
    model.unlink()
    with pytest.raises(ModelMissing, match=r"model\.onnx is missing"):
        open_reranker(load_settings(models_dir=tmp_path, rerank="rerank"))
    with pytest.raises(InvalidSettings, match="has no model another"):
        open_reranker(load_settings(models_dir=tmp_path, rerank="another"))


def test_only_a_cross_encoder_will_do(model: Path, tmp_path: Path) -> None:
    """A language model cannot rerank."""
    manifest(tmp_path, model, role="generate")
    with pytest.raises(InvalidSettings, match="no cross-encoder"):
        open_reranker(load_settings(models_dir=tmp_path, rerank="rerank"))
