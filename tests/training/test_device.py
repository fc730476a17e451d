"""Training on a lent accelerator, with tiny encoders of the same shape; needs PyTorch, in an environment of its own.

Elsewhere it is skipped. There, `python -m pytest --noconftest -c /dev/null tests/training/test_device.py` runs it.
"""

import json
import random
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch has an environment of its own (requirements/training.in)")

from training import device, judge  # noqa: E402 - they need torch
from training.cross import NOT_STATED, STATES, Judge, Ranker, joined  # noqa: E402
from training.model import Reader  # noqa: E402
from training.tokens import Asked, Pair, Text  # noqa: E402
from training.train import Schedule, Training, batch_of, losses  # noqa: E402

WORDS = 400
CONFIG = {
    "model_type": "bert", "hidden_size": 144, "num_attention_heads": 4, "num_hidden_layers": 3, "vocab_size": WORDS,
    "intermediate_size": 64, "max_position_embeddings": 64, "type_vocab_size": 2,
}  # fmt: skip
"""As wide as the projection of the reader at least."""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with the configuration of the encoder."""
    torch.manual_seed(1)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return str(tmp_path)


@pytest.fixture
def file() -> tuple[dict[str, list[Text]], list[Asked]]:
    """Passages of two units, the second of which holds what one question repeats; a near question has none."""
    rng = random.Random(1)
    texts, asked = [], []
    for number in range(12):
        body = [rng.randrange(200, WORDS) for _ in range(8)]
        texts.append(Text([150, *body], [0, 2, 2, 2, 2, 3, 3, 3, 3], [0, 0], [4, 4]))
        others = [other for other in range(12) if other != number]
        right = {number: [1]} if number % 4 else {}
        asked.append(Asked("book", body[4:7] if right else [151, 152], [1.0] * 3, right, others))
        asked[-1].idf[:] = [1.0] * len(asked[-1].ids)
    return {"book": texts}, asked


def test_a_question_is_compared_with_its_own_passages_or_with_all(
    file: tuple[dict[str, list[Text]], list[Asked]],
) -> None:
    """Labels follow the passages, wherever they are in the batch."""
    library, asked = file
    chosen = [(asked[1], [1, 5]), (asked[2], [2, 1, 7])]
    batch, labels = batch_of(chosen, library, random.Random(1), apart=True)
    assert batch.own.shape == (2, 3)
    assert labels.drawn.tolist() == [[True, True, False], [True, True, True]]
    assert labels.units[:, :2].tolist() == [[[False, True], [False, False]]] * 2
    assert labels.passages.sum().item() == 2
    batch, labels = batch_of(chosen, library, random.Random(1))
    assert batch.own.tolist() == [[0, 1, 2, 3]] * 2
    assert labels.drawn.tolist() == [[True, True, False, False], [True, False, True, True]]
    assert labels.units.any(2).tolist() == labels.passages.tolist()


def test_padding_between_two_texts_changes_nothing(folder: str) -> None:
    """A short question beside a long one is read as if it were alone."""
    model = Ranker(folder, {}, layers=2).eval()
    first, second = torch.tensor([[101, 7, 102, 0, 0]]), torch.tensor([[101, 9, 8, 102, 0]])
    read = model.encode(*joined(first, second))
    alone = model.encode(*joined(first[:, :3], second[:, :4]))
    assert torch.allclose(read[:, [0, 1, 2, 5, 6, 7]], alone, atol=1e-5)


@pytest.mark.parametrize("kind", [Reader, Ranker])
def test_a_run_learns_which_unit_answers(
    folder: str, kind: type[Reader | Ranker], file: tuple[dict[str, list[Text]], list[Asked]]
) -> None:
    """The loss of units falls, near questions add to none of it, and what is judged has the shape of a table."""
    model = kind(folder, {})
    stream = device.Stream({"questions": file}, questions=8, passages=4, longest=32, seed=1)
    small = [model.answers]
    training = Training(model, Schedule(1, rate=3e-3, steps=40), small)
    seen, batches = [], iter(stream)
    for gone in training.turns():
        batch, labels = next(batches)
        parts = losses(model, batch, labels)
        seen.append(parts["units"].item())
        training.learn(parts, gone)
    assert np.mean(seen[-8:]) < 0.8 * np.mean(seen[:8])
    verdicts = device.judge(model, device.exam(*file, 32), "cpu")
    assert len(verdicts) == 12
    count, *shares = device.figures(verdicts)
    assert count == "12"
    assert all(0 <= float(share) <= 1 for share in shares)
    assert verdicts[1].plus(verdicts[1], 0.5).units.shape == (12, 2)
    assert device.table({"before": verdicts, "after": verdicts}).count("\n") == 3


def test_a_teacher_adds_to_the_loss(folder: str, file: tuple[dict[str, list[Text]], list[Asked]]) -> None:
    """Nothing where it agrees, and more the more it differs."""
    model = Reader(folder, {})
    batch, labels = next(iter(device.Stream({"questions": file}, questions=4, passages=3, longest=32, seed=2)))
    agreeing = torch.logsumexp(model(batch)["units"], 2).detach()
    same, other = (losses(model, batch, labels, taught)["taught"].item() for taught in (agreeing, -agreeing))
    assert same == pytest.approx(0, abs=1e-5)
    assert other > same
    assert device.scores_of(Ranker(folder, {}, layers=2), batch).shape == (4, 3)


def test_a_judge_learns_what_is_repeated(folder: str) -> None:
    """Of two twins beside the same evidence, the one whose words it contains is likelier after a few steps."""
    rng = random.Random(1)
    twins = []
    for _ in range(24):
        held = rng.sample(range(200, WORDS), 6)
        twins.append([Pair(held[:2], held, STATES), Pair(rng.sample(range(120, 190), 2), held, NOT_STATED)])
    model = Judge(folder, {}, layers=2)
    training = Training(model, Schedule(1, rate=3e-3, steps=30), list(model.head.parameters()), 1e-2)
    batches = judge.batches({"claims": twins, "public": []}, training.rng, 16)
    for gone in training.turns():
        batch = next(batches)
        *given, labels = judge.tensors([pair for group in batch for pair in group])
        training.learn(judge.losses(model(*given), labels, twins=True), gone)
    told = judge.judge(model, twins, "cpu")
    assert told.startswith("48 claims: area ")
    assert float(told.split()[3].rstrip(";")) > 0.9


def test_weights_come_back_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut over files, completed by the embeddings that nothing changed; a part that is missing is noticed."""
    words = torch.ones(5, 2)
    monkeypatch.setattr(device, "PART_BYTES", 8)
    monkeypatch.setattr(device, "weights_of", lambda _: {"embeddings.word_embeddings.weight": words})
    head = torch.arange(6.0).reshape(2, 3)
    runs = {"rank": {"bert.embeddings.word_embeddings.weight": words, "head": head}, "judge": {"bias": torch.zeros(1)}}
    device.write_parts(runs, tmp_path)
    assert len(list(tmp_path.glob("weights-*.npy"))) == 2
    found = device.read_parts(tmp_path, tmp_path)
    assert found["rank"]["head"].tolist() == head.tolist()
    assert found["rank"]["bert.embeddings.word_embeddings.weight"] is words
    assert found["judge"]["bias"].tolist() == [0.0]
    (tmp_path / "weights-1.npy").unlink()
    with pytest.raises((ValueError, RuntimeError)):
        device.read_parts(tmp_path, tmp_path)


def test_no_step_begins_after_the_stop() -> None:
    """A machine lent for minutes is returned in time, independent of the plan."""
    assert Schedule(60, steps=1000, stop=0).gone(0, 0) == 1
    assert Schedule(60, steps=1000).gone(1, 0) == pytest.approx(0.001)
