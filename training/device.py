"""Train the reader on an accelerator that is lent for minutes: `training/device.sh` runs this there.

It needs PyTorch, transformers, onnx and NumPy, the packed file of `training.pack`, and the shipped reader in
`models/reader`, whose 8-bit weights it goes on from. It judges the reader before and after on the books left out,
prints the table, and writes it and the weights to the output folder in parts small enough to come back.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training.cross import weights_of
from training.model import Reader
from training.tokens import KINDS, Asked, Library, load
from training.train import Schedule, batch_of, train

ROOT = Path(__file__).resolve().parents[1]
PART_BYTES = 14 * 1024 * 1024
"""Of a file that comes back."""
MOST_CANDIDATES = 20
"""Passages of a question when the reader is judged."""
BATCH = 128
"""Questions of a step on an accelerator."""
SEED = 5


def shipped(folder: Path) -> Reader:
    """The reader of an installed folder, in full precision."""
    reader = Reader(str(folder), weights_of(folder / "model.onnx"))
    learned: dict[str, Any] = json.loads((folder / "reader.json").read_text())
    with torch.no_grad():
        reader.project.weight.copy_(torch.from_numpy(np.load(folder / "projection.npy")).float().T)
        reader.weigh.weight.copy_(torch.tensor(learned["token"]).unsqueeze(0))
        reader.rarity.fill_(learned["rarity"])
        reader.mix.copy_(torch.tensor([learned[name] for name in ("own", "headed", "passage", "dense")]))
        reader.scale.fill_(float(np.log(learned["scale"])))
        reader.kind.copy_(torch.tensor([learned["kinds"][name] for name in KINDS]))
        reader.length.fill_(learned["length"])
        reader.answers.copy_(torch.tensor(learned["answers"]))
    return reader


def judge(reader: Reader, asked: Sequence[Asked], library: Library, device: str) -> dict[str, dict[str, float]]:
    """Judge a reader by candidates that match in words.

    Returns:
        Of each book how many questions there are, how often the best passage and the best unit answer, and the ROC area
        of the best unit's score, for what the book answers against near questions.
    """
    reader.to(device).eval()
    scores: dict[str, list[tuple[bool, bool, bool, float]]] = {}
    for item in asked:
        numbers = [*list(item.positives)[:2], *item.negatives][:MOST_CANDIDATES]
        batch, labels, _ = batch_of([(item, numbers)], library[item.book], random.Random(SEED))
        with torch.no_grad():
            units = reader(batch.to(device))["units"][0].float().cpu()
        best = int(units.flatten().argmax())
        found = torch.logsumexp(units, 1).argmax()
        right = bool(labels[0, found].any()), bool(labels[0].flatten()[best])
        scores.setdefault(item.book, []).append((bool(item.positives), *right, float(units.max())))
    reader.train()
    table = {}
    for book, rows in scores.items():
        answered = np.array([row[0] for row in rows])
        told = np.array(rows, dtype=np.float64)
        ranks = told[:, 3].argsort().argsort() + 1
        pairs = answered.sum() * (~answered).sum()
        table[book] = {
            "questions": len(rows),
            "passage": float(told[answered, 1].sum() / max(answered.sum(), 1)),
            "unit": float(told[answered, 2].sum() / max(answered.sum(), 1)),
            "near": float((ranks[answered].sum() - answered.sum() * (answered.sum() + 1) / 2) / max(pairs, 1)),
        }
    return table


def write_parts(weights: dict[str, torch.Tensor], out: Path) -> None:
    """Write weights as 16-bit numbers in files of at most `PART_BYTES`; one tensor may be cut over several."""
    flat = torch.cat([tensor.detach().cpu().half().flatten() for tensor in weights.values()]).numpy()
    shapes = {name: list(tensor.shape) for name, tensor in weights.items()}
    (out / "weights.json").write_text(json.dumps(shapes))
    for number, start in enumerate(range(0, len(flat), PART_BYTES // 2)):
        np.save(out / f"weights-{number}.npy", flat[start : start + PART_BYTES // 2])


def read_parts(folder: Path) -> dict[str, torch.Tensor]:
    """What `write_parts` wrote, in full precision."""
    shapes: dict[str, list[int]] = json.loads((folder / "weights.json").read_text())
    parts = sorted(folder.glob("weights-*.npy"), key=lambda path: int(path.stem.partition("-")[2]))
    flat = torch.from_numpy(np.concatenate([np.load(path) for path in parts])).float()
    found, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        found[name] = flat[at : at + size].reshape(shape).clone()
        at += size
    if at != len(flat):
        raise ValueError(f"{folder} holds {len(flat)} numbers, and {at} are needed.")
    return found


def table_of(before: dict[str, dict[str, float]], after: dict[str, dict[str, float]]) -> str:
    """Both as a table of Markdown."""
    lines = ["| book left out | questions | best passage answers | best unit answers | area against near questions |"]
    lines += ["|---|---|---|---|---|"]
    for book, was in before.items():
        cells = [f"{was[name]:.3f} -> {after[book][name]:.3f}" for name in ("passage", "unit", "near")]
        lines.append(f"| {book} | {int(was['questions'])} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, judge, write."""
    parser = argparse.ArgumentParser(prog="python -m training.device", description=__doc__)
    parser.add_argument("--pack", type=Path, default=ROOT / "training" / "out" / "pack.npz")
    parser.add_argument("--reader", type=Path, default=ROOT / "models" / "reader", help="to go on from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=6, help="of training; judging takes another")
    parser.add_argument("--steps", type=int, default=0, help="instead of minutes")
    parser.add_argument("--batch", type=int, default=BATCH, help="questions of a step")
    parser.add_argument("--rate", type=float, default=3e-5)
    parser.add_argument("--judged", type=int, default=0, help="judge by so many questions only")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(options.seed)
    library, trained, judged = load(options.pack)
    judged = random.Random(SEED).sample(judged, options.judged) if options.judged else judged
    print(f"{device}: {len(trained)} questions to learn from, {len(judged)} to be judged by", flush=True)
    reader = shipped(options.reader)
    before = judge(reader, judged, library, device)
    schedule = Schedule(options.minutes, options.rate, options.seed, options.steps, options.batch, device)
    train(reader, trained, library, out=options.out / "whole.pt", schedule=schedule)
    for name in ("whole.pt", "whole.state"):  # too large to come back
        (options.out / name).unlink(missing_ok=True)
    write_parts(reader.state_dict(), options.out)
    after = judge(reader, judged, library, device)
    (options.out / "table.json").write_text(json.dumps({"before": before, "after": after}, indent=1))
    (options.out / "table.md").write_text(table_of(before, after) + "\n")
    print(table_of(before, after), flush=True)


if __name__ == "__main__":
    main()
