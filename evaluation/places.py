"""Fit what a passage gains by the reader's place: `python -m evaluation.places [--indexes DIR]`.

One weight after the other is tried on the follow-ups and pages of `evaluation.meant` (half `tune`), and on the
conversations of `tests/answer/conversations.jsonl` (split `tune`) of which DIR has an index. The best is written to
`src/lutrin/search/places.json`; of equals the least, so that the place counts no more than it has to. The other halves
are printed before and after, and decide nothing.
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from evaluation import meant
from evaluation.command_line import ROOT
from evaluation.studies.conversations import TURNS, Turn, is_right, talking
from lutrin.search.sought import Places, places

FILE = ROOT / "src" / "lutrin" / "search" / "places.json"
GRID = {
    "shown": (0.0, 1.0, 2.0, 3.0),
    "section": (0.0, 1.0, 2.0),
    "leaning": (0.0, 1.0, 2.0),
    "told": (0.0, 0.4, 0.8, 1.6),
    "page": (0.1, 0.3, 0.6),
}
KINDS = ("follow-up", "page")


async def share(indexes: Path, half: str) -> float:
    """Share of the turns of a half that are answered right, with the weights as they are in the file."""
    places.cache_clear()
    right = [
        one for kind in KINDS for found in (await meant.ask(meant.read_questions(kind, half))).values() for one in found
    ]
    turns = [msgspec.json.decode(line, type=Turn) for line in TURNS.read_bytes().splitlines()]
    for index in dict.fromkeys(turn.index for turn in turns if turn.split == half and (indexes / turn.index).is_dir()):
        async with talking(indexes / index) as talk:
            own = [turn for turn in turns if (turn.index, turn.split) == (index, half)]
            right += [is_right(turn, await talk.ask(turn.question, turn.conversation)) for turn in own]
    return sum(right) / len(right)


def write(weights: Places) -> None:
    """Write the weights where Lutrin reads them."""
    FILE.write_bytes(msgspec.json.encode(weights) + b"\n")


async def fit(indexes: Path) -> None:
    """Try one weight after the other."""
    best, before = places(), await share(indexes, "test")
    most = await share(indexes, "tune")
    print(f"tune {most:.3f}, test {before:.3f} before", flush=True)
    for name, values in GRID.items():
        for value in values:
            candidate = msgspec.structs.replace(best, **{name: value})
            write(candidate)
            found = most if candidate == best else await share(indexes, "tune")
            print(f"{name} {value}: tune {found:.3f}", flush=True)
            if found > most or (found == most and value < getattr(best, name)):
                best, most = candidate, found
    write(best)
    print(f"{best}: tune {most:.3f}, test {await share(indexes, 'test'):.3f} after")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(prog="evaluation.places", description=__doc__.partition("\n")[0])
    parser.add_argument("--indexes", type=Path, default=ROOT / "bench" / "out" / "books", help="one folder a shelf")
    asyncio.run(fit(parser.parse_args(arguments).indexes))


if __name__ == "__main__":
    main()
