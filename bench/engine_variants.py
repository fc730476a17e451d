"""An engine for all processors: each of its parts that runs here is forced in turn, and must say the same.

    python bench/engine_variants.py LIBRARIES [--model FILE] [--tokens 32] [--python PROGRAM]

LIBRARIES is the folder `llama_cpp/lib` of an unpacked engine wheel. Each part for a kind of processor gets a folder in
which it is the only one (llama.cpp's own way to choose, by what lies there), in a process of its own, and continues ten
questions greedily; so does the engine of this environment. All are then given the first one's tokens: *agree* counts
the places where the likeliest next token is the same, *gap* is how much likelier the first one's choice was for it, in
logits, where one of them chose differently: rounding makes it small. *Tokens/s* is of one thread, prompts
included, by processor time, which other programs do not take part in. Parts for another architecture are compared with
this machine's engine if PROGRAM runs its Python: one with Lutrin's packages, under qemu-user, which sees this folder
and that of temporary files under their names. The last line is JSON.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import QUESTIONS, ROOT, finish, machine

from evaluation.questions import read_questions

PROMPTS = 10
HERE = "of this environment"
COMMON = ("libllama.so", "libggml.so", "libggml-base.so")


def alone(libraries: Path, part: Path, folder: Path) -> Path:
    """A folder with the engine and one part."""
    folder.mkdir()
    for file in (part, *(file for name in COMMON for file in libraries.glob(f"{name}*"))):
        shutil.copyfile(file, folder / file.name)
    return folder


def child(options: argparse.Namespace) -> None:
    """One engine: its tokens, and its logits for given ones."""
    from llama_cpp import Llama  # noqa: PLC0415 - the libraries are chosen by the environment of this process

    from lutrin.adapters.llamacpp import open_engine  # noqa: PLC0415 - the libraries are chosen by the environment of this process

    name = open_engine()
    llama: Any = Llama(str(options.model), n_ctx=512, n_threads=1, n_threads_batch=1, logits_all=True, verbose=False)
    prompts = [item.question for item in read_questions([QUESTIONS[0]])[:PROMPTS]]
    given = json.loads(options.given.read_text("utf-8")) if options.given else None
    began, said, logits = time.process_time(), [], []
    for number, prompt in enumerate(prompts):
        tokens = llama.tokenize(prompt.encode())
        llama.reset()
        llama.eval(tokens)
        own = []
        for _ in range(options.tokens):
            own.append(int(np.argmax(llama.scores[llama.n_tokens - 1])))
            llama.eval(own[-1:])
        said.append(own)
        if given is None:
            logits.append(llama.scores[len(tokens) - 1 : len(tokens) - 1 + options.tokens].copy())
        else:
            llama.reset()
            llama.eval(tokens)
            for token in given[number]:
                llama.eval([token])
            logits.append(llama.scores[len(tokens) - 1 : len(tokens) - 1 + options.tokens].copy())
    seconds = (time.process_time() - began) / (1 if given is None else 2)
    np.save(options.out, np.array(logits))
    print(json.dumps({"part": name, "tokens": said, "per_s": PROMPTS * options.tokens / seconds}))


def run(folder: Path | None, out: Path, options: argparse.Namespace, given: Path | None) -> dict[str, Any] | None:
    """Let one engine speak; None if it does not run on this processor."""
    command = [
        options.python if folder else sys.executable,
        __file__,
        "-",
        "--child",
        "--model",
        str(options.model),
        "--out",
        str(out),
    ]
    command += ["--tokens", str(options.tokens), *(["--given", str(given)] if given else [])]
    environment = os.environ | ({"LLAMA_CPP_LIB_PATH": str(folder)} if folder else {})
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "has no part for this processor" in done.stderr:
        return None
    if done.returncode != 0:
        raise SystemExit(f"{folder}: {done.returncode}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(ours: "np.ndarray[Any, Any]", first: "np.ndarray[Any, Any]") -> tuple[int, float, float]:
    """Places at which both choose the same, the largest gap where they do not, and the largest difference of logits."""
    mine, theirs = ours.argmax(axis=2), first.argmax(axis=2)
    differs = np.argwhere(mine != theirs)
    gaps = [float(first[p, t, theirs[p, t]] - first[p, t, mine[p, t]]) for p, t in differs]
    return int((mine == theirs).sum()), max(gaps, default=0.0), float(np.abs(ours - first).max())


def main() -> None:
    """Force each part, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "smollm2-135m-instruct-q4_1.gguf")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--python", default=sys.executable, help="program that runs the parts")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--given", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    parts = sorted(options.libraries.glob("libggml-cpu-*.so"))
    if not parts:
        raise SystemExit(f"{options.libraries} holds no libggml-cpu-NAME.so: it is an engine for one processor.")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="lutrin-parts-") as name:
        root = Path(name)
        said, logits = root / "said.json", root / "first.npy"
        first = run(None, logits, options, None)
        said.write_text(json.dumps(first["tokens"]) if first else "", "utf-8")
        reference = np.load(logits)
        places = reference.shape[0] * reference.shape[1]
        for part in parts:
            kind = part.stem.removeprefix("libggml-cpu-")
            found = run(alone(options.libraries, part, root / kind), root / "other.npy", options, said)
            row: dict[str, Any] = {"part": kind, "runs": found is not None}
            if found and first:
                agree, gap, most = compared(np.load(root / "other.npy"), reference)
                same = sum(a == b for a, b in zip(found["tokens"], first["tokens"], strict=True))
                row |= {"same": same, "agree": agree, "gap": gap, "most": most, "per_s": found["per_s"]}
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    lines = [f"| part | whole answers the same | agree, of {places} | gap | tokens/s |", "|---|--:|--:|--:|--:|"]
    lines.append(f"| {HERE} | {PROMPTS} | {places} | 0 | {first['per_s'] if first else 0:.1f} |")
    lines += [
        f"| {row['part']} | {row['same']} | {row['agree']} | {row['gap']:.3f} | {row['per_s']:.1f} |"
        if row["runs"]
        else f"| {row['part']} | not for this processor | | | |"
        for row in rows
    ]
    finish("Parts of an engine for all processors", ["\n".join(lines)], {"places": places, "rows": rows}, machine())


if __name__ == "__main__":
    main()
