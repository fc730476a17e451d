"""Speed of retrieval: `python bench/retrieval.py scale|http|typing ...`.

`python -m evaluation.searches` measures how well it finds.

`scale`: see scale.py. `http`: see http_retrieval.py. `typing`: see typing_search.py.
"""

import argparse
import asyncio
import sys

import http_retrieval
import scale
import typing_search

from lutrin.errors import LutrinError


def main() -> None:
    """Run one of the benchmarks."""
    parser = argparse.ArgumentParser(description="Speed of retrieval.")
    commands = parser.add_subparsers(dest="command", required=True)
    scale.add_options(commands.add_parser("scale", help="latency, memory and recall at many chunks"))
    http_retrieval.add_options(commands.add_parser("http", help="over HTTP, beside a bare query of Chroma"))
    typing_search.add_options(commands.add_parser("typing", help="over HTTP, every key of what is typed"))
    arguments = parser.parse_args()
    actions = {"scale": scale.run_scale, "http": http_retrieval.run_http, "typing": typing_search.run_typing}
    try:
        asyncio.run(actions[arguments.command](arguments))
    except LutrinError as error:
        sys.exit(error.detail)


if __name__ == "__main__":
    main()
