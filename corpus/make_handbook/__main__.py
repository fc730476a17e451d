"""Builds the Robot Lab Safety Handbook: `python -m corpus.make_handbook [--output FILE]`."""

import argparse
from pathlib import Path

from corpus.make_handbook.blocks import read_blocks
from corpus.make_handbook.layout import build

HERE = Path(__file__).parent
TARGET = HERE.parent / "robot-lab-safety-handbook" / "robot-lab-safety-handbook.pdf"


def main() -> None:
    """Reads `text/` and writes the PDF; the same text gives the same bytes on every machine."""
    parser = argparse.ArgumentParser(description="Build the Robot Lab Safety Handbook.")
    parser.add_argument("--output", type=Path, default=TARGET, help="the PDF to write (default: %(default)s)")
    output: Path = parser.parse_args().output
    output.parent.mkdir(parents=True, exist_ok=True)
    build(read_blocks(HERE / "text"), output)
    print(f"{output}: {output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
