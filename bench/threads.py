"""Steps of the model with one thread and with all, beside busy programs.

    python bench/threads.py [--model FILE] [--neighbours 0 1 2]

A neighbour is a process of the usual priority, in a session of its own, that computes without a pause. Prints seconds
for a step of one token and tokens a second of a prompt.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from common import ROOT, finish, machine

from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.ports import Decoder, TokenRun

PROMPT_TOKENS, STEPS = 64, 40
BUSY = "while True: pass"


def steps(decoder: Decoder) -> tuple[float, float]:
    """Seconds of a step of one token, and tokens a second of a prompt, as a reader has them."""
    began = time.perf_counter()
    decoder.step([TokenRun(0, 0, [0] * PROMPT_TOKENS, wanted=True)])
    read_s = time.perf_counter() - began
    began = time.perf_counter()
    for place in range(STEPS):
        decoder.step([TokenRun(0, PROMPT_TOKENS + place, [0], wanted=True)])
    written_s = time.perf_counter() - began
    decoder.forget(0)
    return written_s / STEPS, PROMPT_TOKENS / read_s


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
    parser.add_argument("--neighbours", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    lines = ["| busy neighbours | threads | a token, s | prompt, tokens/s |", "|--:|---|--:|--:|"]
    found = []
    for count in options.neighbours:
        neighbours = [subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True) for _ in range(count)]
        try:
            for name, threads in (("one", 1), ("all", 0)):
                decoder = open_decoder(options.model, n_ctx=2048, slots=2, threads=threads)
                token_s, read = steps(decoder)
                decoder.close()
                lines.append(f"| {count} | {name} | {token_s:.3f} | {read:.1f} |")
                found.append({"neighbours": count, "threads": name, "token_s": token_s, "prompt": read})
        finally:
            for neighbour in neighbours:
                neighbour.kill()
                neighbour.wait()
    finish("Threads beside busy programs", ["\n".join(lines)], {"rows": found}, machine("llama-cpp-python"))


if __name__ == "__main__":
    main()
