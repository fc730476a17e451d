"""The cost of an ingest of real books: passages a second beside plain fastembed, memory, and a second run.

    python bench/ingest_shelf.py [--shelf ../shared/shelf/books] [--sample 200]

`lutrin ingest` reads the folder into an empty data folder, then once more, each time as a command of its own whose
memory is read from /proc twenty times a second: of the process alone (`VmHWM`), and of all that it starts together with
it. The rate is that of the whole first command: finding, reading, cutting, embedding, writing and verifying. The peer
embeds every n-th passage of the same books with `TextEmbedding.embed(documents)`, the same model and its own defaults,
right behind; it does nothing else, and cuts long passages off.
"""

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import ROOT, finish, machine

from evaluation.show import aligned
from ingest import peer, seconds
from lutrin.index.generation import PASSAGES, decode_chunk

LUTRIN = Path(sys.executable).with_name("lutrin")
EVERY_S = 0.05


def ingest(folder: Path, data: Path) -> tuple[dict[str, Any], float, float, float]:
    """One command: its summary, its seconds, and the most MB that it held, alone and with its children."""
    command = [str(LUTRIN), "ingest", str(folder), "--data-dir", str(data), "--json"]
    variables = os.environ | {"LUTRIN_MODELS_DIR": str(ROOT / "models")}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=variables)
    alone = together = 0.0
    ended = threading.Event()

    def watch() -> None:
        nonlocal alone, together
        while not ended.wait(EVERY_S):
            family = list(_family(process.pid))
            alone = max(alone, _mb(process.pid, "VmHWM"))
            together = max(together, sum(_mb(pid, "VmRSS") for pid in family))

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, _ = process.communicate()
    took = time.perf_counter() - started
    ended.set()
    watcher.join()
    return json.loads(out), took, alone, together


def _family(pid: int) -> Iterator[int]:
    """A process and all that it has started, as long as they run (proc(5))."""
    yield pid
    try:
        own = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in _words(task / "children")]
    except OSError:
        return  # it has ended meanwhile
    for child in own:
        yield from _family(child)


def _words(path: Path) -> list[str]:
    try:
        return path.read_text("ascii").split()
    except OSError:
        return []


def _mb(pid: int, name: str) -> float:
    words = _words(Path(f"/proc/{pid}/status"))
    return int(words[words.index(f"{name}:") + 1]) / 1024 if f"{name}:" in words else 0.0


def passages(data: Path, count: int) -> list[str]:
    """What was embedded of every n-th passage of the ingested books, in random order."""
    texts: list[str] = []
    for file in sorted(data.glob(f"books/*/*/{PASSAGES}")):
        with sqlite3.connect(file) as database:
            rows = database.execute("SELECT record FROM chunk ORDER BY row").fetchall()
        texts += [decode_chunk(record).embedded_text() for (record,) in rows]
    chosen = texts[:: max(1, len(texts) // count)][:count]
    random.Random(0).shuffle(chosen)  # noqa: S311 - repeatable, not secret
    return chosen


def words_in(folder: Path) -> int:
    """Words of all pages as they lie there, markup included."""
    pages = (path for path in folder.rglob("*") if path.suffix in {".md", ".mdx"} and path.is_file())
    return sum(len(path.read_text("utf-8", "replace").split()) for path in pages)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shelf", type=Path, default=ROOT.parent / "shared" / "shelf" / "books", help="books to read")
    parser.add_argument("--sample", type=int, default=200, help="passages that fastembed embeds")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data"
        first, first_s, alone, together = ingest(arguments.shelf, data)
        texts = passages(data, arguments.sample)
        other = peer()
        list(other.embed(texts[:4]))
        theirs = len(texts) / seconds(lambda: list(other.embed(texts)))
        second, second_s, _, _ = ingest(arguments.shelf, data)
        catalogue = (data / "catalog.db").stat().st_size / 1e6
        every = sum(file.stat().st_size for file in data.rglob("*") if file.is_file()) / 1e6
    if second["processed"] or second["texts_embedded"] or second["published"]:
        raise SystemExit("the second ingest did something")
    ours = first["chunks_created"] / first_s
    share = second["seconds"] / first["seconds"]
    what = f"{len(first['books'])} books, {first['processed']} files, {first['chunks_created']} passages"
    rows = [
        [f"first ingest: {what}", f"{first_s:.1f} s", ""],
        ["passages a second, the whole command", f"{ours:.1f}", ""],
        ["fastembed's embed(documents), every n-th of them", f"{theirs:.1f}", ""],
        ["ratio", f"{ours / theirs:.2f}", "2"],
        ["most memory of the command", f"{alone:.0f} MB", "600 MB"],
        ["with the process that verifies", f"{together:.0f} MB", "600 MB"],
        ["second ingest, nothing changed", f"{second['seconds']:.2f} s", ""],
        ["second / first", f"1/{1 / share:.0f}", "1/50"],
        ["the same, start of Python included", f"1/{first_s / second_s:.0f}", "1/50"],
        ["catalogue; all data", f"{catalogue:.0f} MB; {every:.0f} MB", ""],
    ]
    figures = {
        "words": words_in(arguments.shelf), "failed": first["failed"], "passages_per_s": round(ours, 1),
        "fastembed_default_passages_per_s": round(theirs, 1), "ratio": round(ours / theirs, 2),
        "first_s": round(first_s, 1), "second_s": round(second["seconds"], 3), "second_of_first": round(share, 5),
        "alone_mb": round(alone), "together_mb": round(together), "data_mb": round(every),
    }  # fmt: skip
    about = machine("fastembed", "onnxruntime", "chromadb")
    finish("Ingest of a shelf", [aligned([["what", "figure", "goal"], *rows])], {"ingest_shelf": figures}, about)


if __name__ == "__main__":
    main()
