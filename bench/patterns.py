"""Times every regular expression of Lutrin on inputs that make a backtracking engine slow (`tests/attacks.py`).

    python bench/patterns.py [--chars 65536] [--limit-s 1] [--only lutrin.query]

Texts that are cut before they meet a pattern are as long as they may be. A pattern that takes longer than the limit for
one input is named with it. Exits with 1 if there is one.
"""

import argparse
import multiprocessing
import sys

from common import ROOT, machine

sys.path.append(str(ROOT))
from tests.attacks import CHARS, LIMIT_S, jobs, slowest


def main() -> None:
    """Time all and print."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--chars", type=int, default=CHARS)
    arguments.add_argument("--limit-s", type=float, default=LIMIT_S)
    arguments.add_argument("--only", default="", help="part of the places to look at")
    options = arguments.parse_args()
    work = jobs(options.only, options.chars, options.limit_s)
    slow = 0
    longest = 0.0
    with multiprocessing.Pool(1) as pool:
        for place, worst, text in pool.imap_unordered(slowest, work):
            if worst > options.limit_s:
                slow += 1
                print(f"{worst:7.2f} s  {place}  {text}", file=sys.stderr, flush=True)
            else:
                longest = max(longest, worst)
    print(machine())
    print(f"{len(work)} patterns, {options.chars} characters; {slow} take over {options.limit_s:g} s, the others")
    print(f"at most {longest:.2f} s")
    raise SystemExit(bool(slow))


if __name__ == "__main__":
    main()
