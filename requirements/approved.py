"""Print the SHA-256 of each companion that comes with Lutrin, for src/lutrin/ingest/approved.txt (`just docs`)."""

import hashlib
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus"


def main() -> None:
    """Print one hash a line."""
    for path in sorted(CORPUS.rglob("companion.jsonl")):
        print(hashlib.sha256(path.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
