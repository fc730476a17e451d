"""Fit the model's own head: `python -m training.head collect|shelf|fit|report --books FOLDER --out FOLDER`.

collect  read the sections that Lutrin chooses for written questions, and keep what the model has computed of each
shelf    the same for the questions of a shelf, on which nothing is fitted
fit      fit the head on the books, print how it does on each by what the others teach; with --write put it into the
         product: `src/lutrin/generate/head.json` and `with_head` of `src/lutrin/search/decisions.json`
report   print what the decisions do on the shelf, without the head and with it

The head is a logistic regression with a ridge, solved by Newton's method in the space of the pairs, of which there are
fewer than values (Rasmussen and Williams 2006, algorithm 3.1). Its log odds of each pair, as what was fitted on the
other books gives them, are then a signal beside the reader's and the model's yes. That regression sees only books which
the reader has not seen in training, for of those it is surer.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from evaluation.asking import ingest as ingest_shelf
from evaluation.shelf import SHELF, read_shelf
from evaluation.show import aligned
from evaluation.whether import WITH_MODEL_WRONG
from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.errors import LutrinError
from lutrin.generate.head import Head, shipped_head
from lutrin.keep.weights import load_manifest, verified_path
from lutrin.ports import Decoder
from lutrin.runtime.wiring import open_runtime
from lutrin.search.result import Decision, load_decisions
from lutrin.settings import load_settings
from training import sources
from training.calibrate import area, ingest
from training.head_rows import Kept, Pair, Row, pairs_of, read, sample, shelf_pairs
from training.passages import extract

ROOT = sources.HERE.parent
ROWS = sources.HERE / "head.jsonl"
HEAD = ROOT / "src" / "lutrin" / "generate" / "head.json"
DECISIONS = ROOT / "src" / "lutrin" / "search" / "decisions.json"
LAYERS = 0.5
"""Share of the layers, from the last one down, whose values are read."""
RIDGE = 0.3
"""Penalty on squared weights of values that are scaled to a length of about 1 for each pair."""
STEPS, CLOSE = 20, 1e-4
"""Newton's method: maximum number of steps, and the change of log odds at which it ends."""
REFUSED = (0.03, 0.05, 0.08)
"""Permitted shares of refused answerable questions at which refusals of near ones are counted."""
KINDS = {False: "answerable", True: "near"}
"""Name of each kind of question, by whether it is near."""
SEEDS = (1, 2)
"""Seeds of the halves of the pairs: heads fitted on a half show the gain from twice as many pairs."""
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def logistic(values: Array, answered: Mask, ridge: float) -> tuple[Array, float]:
    """Weights and bias of a logistic regression with a ridge, for more signals than rows.

    Args:
        values: (n, d).
        answered: (n,).
        ridge: On squared weights of standardised signals, each divided by the root of their number.
    """
    mean, spread = values.mean(axis=0), (values.std(axis=0) + 1e-6) * np.sqrt(values.shape[1])
    scaled = (values - mean) / spread
    kernel, odds = scaled @ scaled.T, np.zeros(len(values))
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-odds))
        bend = np.maximum(chance * (1 - chance), 1e-4)
        target = odds + (answered - chance) / bend
        solved = np.linalg.solve(kernel + np.diag(ridge / bend), np.c_[target, np.ones(len(odds))])
        bias = solved[:, 0].sum() / solved[:, 1].sum()
        pull = solved[:, 0] - bias * solved[:, 1]
        before, odds = odds, kernel @ pull + bias
        if np.abs(odds - before).max() < CLOSE:
            break
    weights = scaled.T @ pull / spread
    return weights, float(bias - mean @ weights)


def left_out(values: Array, answered: Mask, books: npt.NDArray[np.str_], learns: Mask, ridge: float) -> Array:
    """(n,): log odds of each row by what is fitted on the rows of the other books; only some of them are learned from.

    Args:
        values: (n, d).
        answered: (n,).
        books: (n,).
        learns: (n,).
        ridge: See `logistic`.
    """
    odds = np.zeros(len(answered))
    for book in np.unique(books):
        here = books == book
        weights, bias = logistic(values[~here & learns], answered[~here & learns], ridge)
        odds[here] = values[here] @ weights + bias
    return odds


def small(signals: Array, answered: Mask) -> tuple[Array, float]:
    """Weights and bias of a logistic regression on few signals of like size, by Newton's method."""
    design, weights = np.c_[signals, np.ones(len(signals))], np.zeros(signals.shape[1] + 1)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-design @ weights))
        bend = (design * (chance * (1 - chance))[:, None]).T @ design
        weights += np.linalg.solve(bend + 1e-3 * np.eye(len(weights)), design.T @ (answered - chance))
    return weights[:-1], float(weights[-1])


class Table:
    """Rows as columns of numbers.

    Attributes:
        first: (n,): pairs with the section that Lutrin shows.
        unseen: (n,): pairs of books that the reader was not trained on.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        described = sources.sources()
        self.rows = rows
        self.book = np.array([row.book for row in rows])
        self.first = np.array([row.place == 1 for row in rows])
        self.near = np.array([row.near for row in rows])
        self.holds = np.array([row.holds is True for row in rows])
        self.known = np.array([row.holds is not None for row in rows])
        self.reader = np.array([row.reader for row in rows])
        self.yes = np.array([row.yes or 0.0 for row in rows])
        self.unseen = np.array([row.book in described and described[row.book].left_out for row in rows])

    def others(self, *signals: Array) -> Array:
        """(n,): log odds that the book answers, by what these signals, (n,) each, teach on the other books."""
        odds, rows = np.zeros(len(self.rows)), np.stack(signals, axis=1)
        for book in np.unique(self.book):
            here = self.book == book
            learns = self.first & self.unseen & ~here
            weights, bias = small(rows[learns], ~self.near[learns])
            odds[here] = rows[here] @ weights + bias
        return odds


def figures(table: Table, head: Array, halves: Sequence[Array]) -> str:
    """How well each signal tells whether a book answers, and which section does, on books left out of its fit.

    Args:
        table: Whose questions on books that the reader has not seen are counted.
        head: (n,): log odds of the head.
        halves: The same of heads that were fitted on half of the pairs.
    """
    reader, yes = table.reader, table.yes
    signals = {
        "reader": reader, "yes": yes, "head": head, "reader and yes": table.others(reader, yes),
        "reader and head": table.others(reader, head), "all three": table.others(reader, yes, head),
        **{f"head of half the pairs, {seed}": odds for seed, odds in zip(SEEDS, halves, strict=True)},
    }  # fmt: skip
    shown, near = table.first & table.unseen, table.near
    heads = [["signals", "book, against near", "section, against others", *(f"near refused at {at}" for at in REFUSED)]]
    section = table.known & ~near
    for name, odds in signals.items():
        refused = [(odds[shown & near] < np.quantile(odds[shown & ~near], at)).mean() for at in REFUSED]
        areas = [area(odds[shown], ~near[shown]), area(odds[section], table.holds[section])]
        heads.append([name, *(f"{value:.3f}" for value in (*areas, *refused))])
    return aligned(heads)


def floor(table: Table, odds: Array, share: float) -> float:
    """The log odds below which at most so many answerable questions lie, on five of six unseen books.

    Books differ in how sure reader and model are of what they answer, so that what holds on average is too high for
    many a book: the floor is the mean of the books' own quantiles less their standard deviation.
    """
    learns = table.first & table.unseen & ~table.near
    own = [np.quantile(odds[learns & (table.book == book)], share) for book in np.unique(table.book[learns])]
    return round(float(np.mean(own) - np.std(own)), 4)


def decision(table: Table, beside: str, signal: Array) -> Decision:
    """Weights and floors, fitted on books that the reader has not seen.

    The shares of wrong refusals at the floors are those of `evaluation.whether`.

    Args:
        table: What is fitted on.
        beside: The signal beside the reader's odds: `yes` or `head`.
        signal: (n,), its log odds.
    """
    learns = table.first & table.unseen
    signals = np.stack([table.reader, signal], axis=1)
    weights, bias = small(signals[learns], ~table.near[learns])
    odds = signals @ weights + bias
    reader, counts = (round(float(one), 4) for one in weights)
    answers, closest = (floor(table, odds, share) for share in WITH_MODEL_WRONG)
    floored = Decision(reader=reader, yes=0.0, bias=round(bias, 4), answers=answers, closest=closest)
    return msgspec.structs.replace(floored, **{beside: counts})


def opened(given: argparse.Namespace) -> Decoder:
    """The model that the head belongs to.

    Raises:
        LutrinError: It is not there.
    """
    path = verified_path(given.models, load_manifest(given.models).find(given.model, "generate"))
    return open_decoder(path, threads=given.threads, step_tokens=512)


async def collect(given: argparse.Namespace) -> None:
    """Compute the questions on books, skipping finished books."""
    decoder = opened(given)
    chosen = [book for book in sources.sources().values() if not given.on or book.name in given.on]
    for source in chosen:
        path = given.out / "head" / f"{source.name}.npz"
        if path.exists():
            continue
        folder = sources.checkout(given.books, source)
        extract(folder)
        settings = ingest(source, folder, given.out, given.models)
        questions = sample(source, folder, given.most)
        async with open_runtime(settings, with_model=False) as house:
            pairs = [pair async for pair in pairs_of(house, source, questions, settings.top_k)]
        kept = list(read(decoder, pairs))
        Kept([row for row, _ in kept], np.stack([values for _, values in kept])).write(path)
        print(f"{source.name}: {len(kept)} pairs", file=sys.stderr)
    decoder.close()


async def read_shelf_rows(given: argparse.Namespace) -> None:
    """Read the questions on the books of a shelf."""
    decoder = opened(given)
    for book in read_shelf(given.shelf, given.on):
        path = given.out / "head-shelf" / f"{book.name}.npz"
        if path.exists():
            continue
        data = given.out / "shelf" / book.name
        data.mkdir(parents=True, exist_ok=True)
        settings = load_settings(profile="local", data_dir=data, models_dir=given.models, model="none")
        await ingest_shelf(settings, book.folder)
        async with open_runtime(settings, with_model=False) as house:
            asked = [item async for item in shelf_pairs(house, book)]
        kept = list(read(decoder, [item for item in asked if isinstance(item, Pair)]))
        unasked = [item for item in asked if isinstance(item, Row)]
        values = np.stack([values for _, values in kept])
        empty = np.zeros((len(unasked), *values.shape[1:]), np.float16)
        Kept([*(row for row, _ in kept), *unasked], np.concatenate([values, empty])).write(path)
        print(f"{book.name}: {len(asked)} questions", file=sys.stderr)
    decoder.close()


def layers_of(kept: Kept) -> tuple[int, int]:
    """The first layer that a head reads, and the one after the last."""
    number = kept.values.shape[1]
    return round(number * (1 - LAYERS)), number


def columns(kept: Kept) -> Array:
    """(n, layers * width): the values that a head reads."""
    first, end = layers_of(kept)
    return kept.values[:, first:end].reshape(len(kept.rows), -1).astype(np.float64)


def half(number: int, seed: int) -> Mask:
    """(number,): half of the rows, drawn by chance."""
    return np.random.default_rng(seed).random(number) < 0.5


def fit(given: argparse.Namespace) -> None:
    """Fit the head and the decision that it takes part in."""
    kept = Kept.read(sorted((given.out / "head").glob("*.npz")))
    table, values = Table(kept.rows), columns(kept)
    head, *halves = (
        left_out(values, ~table.near, table.book, table.first & chosen, RIDGE)
        for chosen in (np.ones(len(values), np.bool_), *(half(len(values), seed) for seed in SEEDS))
    )
    print(counts(table), figures(table, head, halves), sep="\n\n")
    weights, bias = logistic(values[table.first], ~table.near[table.first], RIDGE)
    shipped = load_decisions()
    found = decision(table, "head", head)
    print(f"\n{msgspec.json.encode(found).decode()}")
    if given.write:
        (file,) = load_manifest(given.models).find(given.model, "generate").file
        made = Head(
            sha256=file.sha256, size=file.size, layers=layers_of(kept), weights=weights.astype("<f2").tobytes(),
            bias=round(bias, 5),
        )  # fmt: skip
        HEAD.write_bytes(msgspec.json.encode(made) + b"\n")
        DECISIONS.write_bytes(msgspec.json.encode(msgspec.structs.replace(shipped, with_head=found)) + b"\n")
        rows = (
            msgspec.structs.replace(row, head=round(float(odds), 3)) for row, odds in zip(kept.rows, head, strict=True)
        )
        ROWS.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def counts(table: Table) -> str:
    """Number of pairs of each kind."""
    first = table.first
    return (
        f"{len(table.rows)} pairs of {len(np.unique(table.book))} books: {int((first & table.near).sum())} near "
        f"questions, {int((first & ~table.near).sum())} answerable ones, of which the section holds the answer to "
        f"{int((first & table.holds).sum())}; {int((~first).sum())} further sections"
    )


def report(given: argparse.Namespace) -> None:
    """Print the effect of each decision on the questions of the shelf; areas cover those that the model is asked."""
    kept = Kept.read(sorted((given.out / "head-shelf").glob("*.npz")))
    head = [shipped_head().odds(values.astype(np.float32)) for values in kept.values]
    learned = Table(Kept.read(sorted((given.out / "head").glob("*.npz"))).rows)
    shipped = load_decisions()
    cases = {
        "reader": shipped.without_model,
        "reader and yes, as shipped": shipped.with_model,
        "reader and yes, fitted as the head is": decision(learned, "yes", learned.yes),
        "reader and head": shipped.with_head,
    }
    heads = [
        ["decision", "area", *(f"{kind} {what}" for kind in KINDS.values() for what in ("", "refused", "closest"))]
    ]
    for name, one in cases.items():
        asked = [row.yes is not None for row in kept.rows]
        odds = [one.odds(row.reader, row.yes or 0.0, other) for row, other in zip(kept.rows, head, strict=True)]
        said = [
            one.verdict(row.reader, row.yes, other)
            if row.yes is not None
            else shipped.without_model.verdict(row.reader)
            for row, other in zip(kept.rows, head, strict=True)
        ]
        near = np.array([row.near for row in kept.rows])
        cells = [f"{area(np.array(odds)[asked], ~near[asked]):.3f}"]
        for kind in KINDS:
            own = [verdict for verdict, is_near in zip(said, near, strict=True) if is_near == kind]
            cells += [str(len(own)), *(f"{own.count(one) / len(own):.3f}" for one in ("no", "closest"))]
        heads.append([name, *cells])
    print(aligned(heads))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=("collect", "shelf", "fit", "report"))
    parser.add_argument("--books", type=Path, default=Path("books"), help="folder with a checkout NAME of each book")
    parser.add_argument("--out", type=Path, default=ROOT / "training" / "out", help="folder for all that is made")
    parser.add_argument("--on", nargs="*", default=(), help="only these books")
    parser.add_argument("--most", type=int, default=60, help="near questions of a book, and half of the others; 0: all")
    parser.add_argument("--models", type=Path, default=ROOT / "models", help="with the reader and the model")
    parser.add_argument("--model", default="medium", help="tier of the model that gets a head")
    parser.add_argument("--threads", type=int, default=0, help="of the model; 0: all cores")
    parser.add_argument("--shelf", type=Path, default=SHELF, help="with books/ and questions/")
    parser.add_argument("--write", action="store_true", help="fit: put the head into the product")
    given = parser.parse_args()
    try:
        if given.act == "collect":
            asyncio.run(collect(given))
        elif given.act == "shelf":
            asyncio.run(read_shelf_rows(given))
        else:
            {"fit": fit, "report": report}[given.act](given)
    except (LutrinError, sources.Missing) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
