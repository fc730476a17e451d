"""Which results of endurance are older than the code that they cover: `python bench/endurance.py`.

`just test-all` writes `bench/endurance.json`. A result holds as long as no file that its suite covers has changed since
the commit that it is of. The last line is JSON; the exit status is 1 with `--strict` where a result is old or missing.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "bench" / "endurance.json"
SERVER = ("src/lutrin/serve", "src/lutrin/chats")
ANSWERS = (*SERVER, "src/lutrin/answer", "src/lutrin/search", "src/lutrin/generate", "src/lutrin/adapters")
INDEX = ("src/lutrin/ingest", "src/lutrin/index", "src/lutrin/adapters/index_chroma.py")
COVERS = {
    "browser": ("web", "src/lutrin/serve"),
    "chaos_http": SERVER,
    "chaos_ingest crowds": INDEX,
    "chaos_ingest failures": INDEX,
    "chaos_ingest kills": INDEX,
    "chaos_ingest re-ingests": INDEX,
    "chaos_ingest swaps": INDEX,
    "chaos_model": ("src/lutrin/generate", "src/lutrin/adapters"),
    "chaos_server": SERVER,
    "loadtest class": ANSWERS,
    "loadtest ten": ANSWERS,
    "orders in a book": ("src/lutrin/answer", "src/lutrin/generate"),
    "pdf bomb": ("src/lutrin/ingest",),
    "site": ("web",),
    "soak": ("src/lutrin",),
}
"""Folders and files of the repository that each suite covers."""
HOLDS, OLD, MISSING, UNKNOWN = "holds", "older than the code", "never run", "of a commit that is not here"


def state_of(suite: str, known: dict[str, dict[str, object]]) -> str:
    """Whether the result of a suite still holds."""
    if suite not in known:
        return MISSING
    if known[suite]["changed"]:
        return f"{OLD}: files had been changed without a commit"
    command = ["git", "diff", "--quiet", str(known[suite]["commit"]), "--", *COVERS[suite]]
    code = subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode
    return {0: HOLDS, 1: OLD}.get(code, UNKNOWN)


def main() -> int:
    """Print one line for each suite."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strict", action="store_true", help="exit 1 unless every result holds")
    parser.add_argument("--file", type=Path, default=KEPT, help="the results")
    arguments = parser.parse_args()
    known = json.loads(arguments.file.read_text("utf-8")) if arguments.file.exists() else {}
    states = {suite: state_of(suite, known) for suite in COVERS}
    for suite, state in states.items():
        of = known.get(suite, {})
        print(f"{suite:24} {of.get('date', ''):10} {of.get('commit', ''):12} {state}")
    print(json.dumps({"benchmark": "endurance", "states": states}))
    return int(arguments.strict and set(states.values()) != {HOLDS})


if __name__ == "__main__":
    sys.exit(main())
