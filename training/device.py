"""Train on an accelerator that is lent for minutes: `training/device.sh` runs this there.

It needs PyTorch, transformers, onnx and NumPy, the files of `training.pack`, and the shipped reader in `models/reader`,
whose 8-bit weights every run goes on from. Three runs, in order of worth:

rank   a cross-encoder over question and window, by labels of tokens
read   the reader itself: late interaction and pooled vectors together, in large batches, taught by `rank` if that ran
judge  a cross-encoder that tells whether evidence states a claim

Each run is judged on books left out as soon as it is done; table and weights are written at once, in files small enough
to come back, so that what is stopped loses its own run alone. The embeddings of words stay those of the shipped reader,
which the repository has anyway.
"""

import argparse
import json
import os
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from training import judge as claims
from training.cross import Judge, Ranker, weights_of
from training.model import Batch, Reader
from training.tokens import KINDS, Asked, Library, load, load_pairs
from training.train import Drawn, Labels, Schedule, Training, batch_of, losses, small_of

ROOT = Path(__file__).resolve().parents[1]
PART_BYTES = 14 * 1024 * 1024
"""Size of the parts in which a file comes back."""
MOST_CANDIDATES = 20
"""Passages per question when a run is judged."""
AT_ONCE = 16
"""Questions that are judged together."""
SHARES = {"questions": 2.0, "headings": 1.0, "public": 1.0}
"""Training files with their relative sampling rates."""
JUDGED = "judged"
MINUTES = {"rank": 2.6, "read": 2.2, "judge": 1.0}
"""Minutes of each run within the lent time; the rest is for judging."""
RATES = {"rank": 1e-4, "read": 3e-5, "judge": 1.6e-4}
HEAD_RATE = 1e-3
ADDED = (0.5, 1.0)
"""Weights of the ranker's score beside the reader's in the table."""
LEAST_SHARED = 2 * 1024**3
"""Bytes that batches of the workers may take."""
SEED = 5


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a step is."""

    questions: int = 512
    """In a batch of `read`; an eighth of them in one of `rank`."""
    passages: int = 8
    """Drawn for a question of `read`; twice as many for one of `rank`."""
    longest: int = 128
    """Tokens of a window."""
    pairs: int = 256
    """Claims in a batch of `judge`."""
    judged: int = 0
    """Questions, and claims, to be judged by at most; 0: all."""
    workers: int = 0
    """Processes that make batches."""
    goes_on: int = 0
    """1: `rank` continues from the shipped ranker, at half its rate."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run makes of one question: K passages, U units."""

    book: str
    units: torch.Tensor
    """(K, U)."""
    rest: torch.Tensor
    """(K,)."""
    right: torch.Tensor
    """(K, U)."""

    @property
    def passages(self) -> torch.Tensor:
        """(K,): scores of whole passages."""
        return torch.logaddexp(torch.logsumexp(self.units, 1), self.rest)

    def plus(self, other: "Verdict", share: float) -> "Verdict":
        """With a share of what another run makes of the passages."""
        more = share * other.passages
        return Verdict(self.book, self.units + more.unsqueeze(1), self.rest + more, self.right)

    def plus_units(self, other: "Verdict", share: float) -> "Verdict":
        """With a share of what another run makes of each unit."""
        return Verdict(self.book, self.units + share * other.units, self.rest + share * other.rest, self.right)


class Stream(IterableDataset[tuple[Batch, Labels]]):
    """Batches without end.

    Args:
        files: Name, books and questions of each.
        questions: In a batch.
        passages: Drawn for each: one that answers, if there is one, and hard negatives.
        longest: Tokens of a window.
        seed: Of a run; each worker draws its own.
    """

    def __init__(
        self, files: Mapping[str, tuple[Library, list[Asked]]], questions: int, passages: int, longest: int, seed: int
    ) -> None:
        self.library = {f"{name}/{book}": texts for name, (books, _) in files.items() for book, texts in books.items()}
        self.asked = {name: asked for name, (_, asked) in files.items()}
        self.questions, self.passages, self.longest, self.seed = questions, passages, longest, seed

    def __iter__(self) -> Iterator[tuple[Batch, Labels]]:
        """See the class."""
        worker = get_worker_info()
        rng = random.Random(f"{self.seed}.{worker.id if worker else 0}")
        names = list(self.asked)
        while True:
            kinds = rng.choices(names, [SHARES[name] for name in names], k=self.questions)
            chosen = [self.drawn(kind, rng.choice(self.asked[kind]), rng) for kind in kinds]
            yield batch_of(chosen, self.library, rng, longest=self.longest, apart=True)

    def drawn(self, kind: str, item: Asked, rng: random.Random) -> Drawn:
        """A question with its passages."""
        right = rng.sample(list(item.positives), min(1, len(item.positives)))
        wrong = rng.sample(item.negatives, min(self.passages - len(right), len(item.negatives)))
        book = f"{kind}/{item.book}"
        return Asked(book, item.ids, item.idf, item.positives, item.negatives), [*right, *wrong]


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


Exam = list[tuple[list[Drawn], Batch, Labels]]
"""Questions on the books left out, each with its candidates, in batches."""


def exam(library: Library, asked: Sequence[Asked], longest: int) -> Exam:
    """The questions that a run is judged by: candidates match in words, or were mined."""
    batches = []
    for start in range(0, len(asked), AT_ONCE):
        few = asked[start : start + AT_ONCE]
        drawn: list[Drawn] = [(item, [*list(item.positives)[:2], *item.negatives][:MOST_CANDIDATES]) for item in few]
        batches.append((drawn, *batch_of(drawn, library, random.Random(SEED), longest=longest, apart=True)))
    return batches


@torch.no_grad()
def judge(model: Reader | Ranker, batches: Exam, device: str) -> list[Verdict]:
    """What a model makes of the questions of an exam."""
    model.to(device).eval()
    found = []
    for drawn, batch, labels in batches:
        with torch.autocast(device, dtype=torch.bfloat16):
            out = {name: value.float().cpu() for name, value in model(batch.to(device)).items()}
        rest = out.get("rest", torch.full(labels.drawn.shape, -1e4))
        for row, (item, numbers) in enumerate(drawn):
            count = len(numbers)
            found.append(Verdict(item.book, out["units"][row, :count], rest[row, :count], labels.units[row, :count]))
    model.train()
    return found


def figures(verdicts: Sequence[Verdict]) -> list[str]:
    """Cells of a table.

    Returns:
        How many questions; how often the best passage and the best unit answer; the ROC area of the best passage's
        score, for what the book answers against near questions.
    """
    answered = np.array([bool(one.right.any()) for one in verdicts])
    passage = [bool(one.right[one.passages.argmax()].any()) for one in verdicts]
    unit = [bool(one.right.flatten()[one.units.argmax()]) for one in verdicts]
    ranks = np.array([float(one.passages.max()) for one in verdicts]).argsort().argsort() + 1
    some, none = int(answered.sum()), int((~answered).sum())
    area = (ranks[answered].sum() - some * (some + 1) / 2) / max(some * none, 1)
    shares = [float(np.array(row)[answered].sum()) / max(some, 1) for row in (passage, unit)]
    return [str(len(verdicts)), *(f"{value:.3f}" for value in shares), f"{area:.3f}" if some * none else "-"]


def table(systems: Mapping[str, Sequence[Verdict]]) -> str:
    """All systems, over all books left out and on each, as a table of Markdown."""
    lines = ["| system | book left out | questions | best passage answers | best unit answers | area against near |"]
    lines += ["|---|---|---|---|---|---|"]
    books = dict.fromkeys(one.book for verdicts in systems.values() for one in verdicts)
    for book in ["", *books] if len(books) > 1 else books:
        for system, verdicts in systems.items():
            cells = figures([one for one in verdicts if book in {"", one.book}])
            lines.append(f"| {system} | {book or 'all'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def frozen(name: str) -> bool:
    """Whether a weight is one that no run changes."""
    return name.endswith("word_embeddings.weight")


def write_parts(runs: Mapping[str, Mapping[str, torch.Tensor]], out: Path) -> None:
    """Write what runs have changed as 16-bit numbers, in files of at most `PART_BYTES`; one tensor may be cut."""
    changed = {run: {name: value for name, value in state.items() if not frozen(name)} for run, state in runs.items()}
    flat = torch.cat([value.half().flatten() for state in changed.values() for value in state.values()]).numpy()
    shapes = {run: {name: list(value.shape) for name, value in state.items()} for run, state in changed.items()}
    (out / "weights.json").write_text(json.dumps(shapes))
    for number, start in enumerate(range(0, len(flat), PART_BYTES // 2)):
        np.save(out / f"weights-{number}.npy", flat[start : start + PART_BYTES // 2])


def read_parts(folder: Path, reader: Path) -> dict[str, dict[str, torch.Tensor]]:
    """The weights of each run that `write_parts` wrote, in full precision, completed by those of a reader's folder.

    Raises:
        ValueError: Parts are missing, or there are others.
    """
    shapes: dict[str, dict[str, list[int]]] = json.loads((folder / "weights.json").read_text())
    parts = sorted(folder.glob("weights-*.npy"), key=lambda path: int(path.stem.partition("-")[2]))
    flat = torch.from_numpy(np.concatenate([np.load(path) for path in parts])).float()
    same = {f"bert.{name}": value for name, value in weights_of(reader / "model.onnx").items() if frozen(name)}
    found, at = {}, 0
    for run, named in shapes.items():
        found[run] = dict(same)
        for name, shape in named.items():
            size = int(np.prod(shape))
            found[run][name] = flat[at : at + size].reshape(shape).clone()
            at += size
    if at != len(flat):
        raise ValueError(f"{folder} holds {len(flat)} numbers, and {at} are needed.")
    return found


class Runs:
    """What is lent, what is read, and what was made of it so far.

    Args:
        pack: Folder of the files.
        reader: Folder of the reader that runs go on from.
        out: Folder of what comes back.
        schedule: Of one run: minutes, rate and seed are set for each.
        sizes: Of a step.
    """

    def __init__(self, pack: Path, reader: Path, out: Path, schedule: Schedule, sizes: Sizes) -> None:
        self.pack, self.reader, self.out, self.schedule, self.sizes = pack, reader, out, schedule, sizes
        self.device = schedule.device
        self.states: dict[str, dict[str, torch.Tensor]] = {}
        self.systems: dict[str, list[Verdict]] = {}
        self.lines: list[str] = []
        self.ranker: Ranker | None = None
        out.mkdir(parents=True, exist_ok=True)

    @cached_property
    def files(self) -> dict[str, tuple[Library, list[Asked]]]:
        """What is learned from."""
        names = [name for name in SHARES if (self.pack / f"{name}.npz").exists()]
        return {name: load(self.pack / f"{name}.npz") for name in names}

    @cached_property
    def exam(self) -> Exam:
        """What every run is judged by."""
        library, asked = load(self.pack / f"{JUDGED}.npz")
        if self.sizes.judged:
            asked = random.Random(SEED).sample(asked, min(self.sizes.judged, len(asked)))
        return exam(library, asked, self.sizes.longest)

    def judge(self, model: Reader | Ranker) -> list[Verdict]:
        """Evaluate a model without changing it."""
        return judge(model, self.exam, self.device)

    def add(self, base: str, share: float) -> None:
        """Put into the table what a reader and the ranker find together, by passages and by units."""
        both = list(zip(self.systems[base], self.systems["rank"], strict=True))
        self.systems[f"{base} + {share} rank"] = [one.plus(other, share) for one, other in both]
        self.systems[f"{base} + {share} rank, by units"] = [one.plus_units(other, share) for one, other in both]

    def scheduled(self, run: str) -> Schedule:
        """When a run ends."""
        minutes = self.schedule.minutes * MINUTES[run]
        given = self.schedule
        rate = RATES[run] / (2 if run == "rank" and self.sizes.goes_on else 1)
        return Schedule(minutes, rate, given.seed, given.steps, self.device, given.stop)

    def batches(self, questions: int, passages: int) -> Iterator[tuple[Batch, Labels]]:
        """Batches, made by workers if there are any."""
        stream = Stream(self.files, max(1, questions), passages, self.sizes.longest, self.schedule.seed)
        return iter(DataLoader(stream, batch_size=None, num_workers=self.sizes.workers))

    def learn(self, model: Reader | Ranker, run: str, small: Sequence[Any], rate: float, *, many: int) -> None:
        """Train a model; the teacher is the ranker, where it has run before the reader."""
        for name, weight in model.named_parameters():
            weight.requires_grad = not frozen(name)
        teacher = self.ranker if run == "read" else None
        training = Training(model, self.scheduled(run), small, rate)
        batches = self.batches(self.sizes.questions // many, self.sizes.passages * (2 if many > 1 else 1))
        for gone in training.turns():
            batch, labels = next(batches)
            batch, labels = batch.to(self.device), labels.to(self.device)
            with torch.autocast(self.device, dtype=torch.bfloat16):
                taught = scores_of(teacher, batch) if teacher is not None else None
                parts = losses(model, batch, labels, taught)
            training.learn(parts, gone)
        self.done(run, model, training.step)

    def rank(self) -> None:
        """Train the cross-encoder over question and window."""
        model = (
            Ranker.exported(self.reader)
            if self.sizes.goes_on
            else Ranker(str(self.reader), weights_of(self.reader / "model.onnx"))
        )
        self.learn(model, "rank", [*model.head.parameters(), model.answers], HEAD_RATE, many=8)
        self.ranker = model
        self.systems["rank"] = self.judge(model)
        for share in ADDED:
            self.add("shipped", share)

    def read(self) -> None:
        """Train the reader itself."""
        model = shipped(self.reader)
        if self.device != "cpu":  # 4,096 windows in one step
            model.bert.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.train()
        self.learn(model, "read", small_of(model), 1e-3, many=1)
        self.systems["read"] = self.judge(model)
        if "rank" in self.systems:
            for share in ADDED:
                self.add("read", share)

    def claims(self) -> None:
        """Train the judge of claims."""
        model = Judge(str(self.reader), weights_of(self.reader / "model.onnx"))
        for name, weight in model.named_parameters():
            weight.requires_grad = not frozen(name)
        training = Training(model, self.scheduled("judge"), list(model.head.parameters()), HEAD_RATE)
        batches = claims.batches(load_pairs(self.pack / "pairs.npz"), training.rng, self.sizes.pairs)
        for gone in training.turns():
            batch = next(batches)
            *given, labels = (
                one.to(self.device) for one in claims.tensors([pair for group in batch for pair in group])
            )
            with torch.autocast(self.device, dtype=torch.bfloat16):
                parts = claims.losses(model(*given), labels, twins=len(batch[0]) > 1)
            training.learn(parts, gone)
        self.done("judge", model, training.step)
        for kind, groups in load_pairs(self.pack / "pairs-judged.npz").items():
            some = groups[: self.sizes.judged or len(groups)]
            self.lines.append(f"judge, {kind}: {claims.judge(model, some, self.device)}")

    def done(self, run: str, model: torch.nn.Module, steps: int) -> None:
        """Write the weights of a run."""
        self.states[run] = {name: value.detach().cpu() for name, value in model.state_dict().items()}
        self.lines.append(f"{run}: {steps} steps, seed {self.schedule.seed}, on {self.device}")
        write_parts(self.states, self.out)

    def all(self, runs: Sequence[str]) -> None:
        """Run what is wanted, and write the table after each."""
        self.systems["shipped"] = self.judge(shipped(self.reader))
        for run in runs:
            began = time.monotonic()
            {"rank": self.rank, "read": self.read, "judge": self.claims}[run]()
            self.lines.append(f"{run}: {time.monotonic() - began:.0f} s with judging")
            told = "\n".join([table(self.systems), "", *(f"- {line}" for line in self.lines)])
            (self.out / "table.md").write_text(f"{told}\n")
        print(told, flush=True)


@torch.no_grad()
def scores_of(teacher: Ranker, batch: Batch) -> torch.Tensor:
    """(B, K): what a teacher scores the passages of a batch."""
    teacher.eval()
    out = teacher(batch)
    return torch.logaddexp(torch.logsumexp(out["units"], 2), out["rest"])


def shared_bytes() -> int:
    """Free memory that processes can share."""
    shared = Path("/dev/shm")  # noqa: S108 - where PyTorch puts what workers hand over
    return shutil.disk_usage(shared).free if shared.is_dir() else 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, judge, write."""
    began = time.monotonic()
    parser = argparse.ArgumentParser(prog="python -m training.device", description=__doc__)
    parser.add_argument("--pack", type=Path, default=ROOT / "training" / "out" / "pack")
    parser.add_argument("--reader", type=Path, default=ROOT / "models" / "reader", help="to go on from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", nargs="+", choices=list(MINUTES), default=list(MINUTES))
    parser.add_argument("--minutes", type=float, default=1, help="times the minutes of each run")
    parser.add_argument("--stop", type=float, default=7, help="minutes after which no step begins")
    parser.add_argument("--steps", type=int, default=0, help="of each run, instead of minutes")
    parser.add_argument("--seed", type=int, default=SEED)
    has_accelerator = torch.cuda.is_available()
    sizes = Sizes(workers=min(12, os.cpu_count() or 1) if has_accelerator and shared_bytes() >= LEAST_SHARED else 0)
    for name in Sizes.__slots__:
        parser.add_argument(f"--{name}", type=int, default=getattr(sizes, name))
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    schedule = Schedule(
        options.minutes, seed=options.seed, steps=options.steps, stop=began + 60 * options.stop,
        device="cuda" if has_accelerator else "cpu",
    )  # fmt: skip
    sizes = Sizes(**{name: getattr(options, name) for name in Sizes.__slots__})
    Runs(options.pack, options.reader, options.out, schedule, sizes).all(options.runs)


if __name__ == "__main__":
    main()
