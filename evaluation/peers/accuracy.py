"""Right answers by model, with peers beside them: the table, and the picture of the README.

    python -m evaluation.peers.accuracy [--limit 30] [--split test] [--again NAME ...] [--data-dir DIR]

The same questions, spread evenly over the half for testing, are asked of Lutrin with no model and with each tier whose
weights are here, of a plain prompt over whole passages (`naive`) and of a plain LlamaIndex pipeline
(`llamaindex`), one after the other. Each leaves its report in bench/out/accuracy, and what is there for these
questions is not asked again unless `--again` names it. LlamaIndex takes up to a minute for an answer on two cores.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.command_line import CORPUS, ROOT, add_question_options, chosen_questions
from evaluation.peers.accuracy_plot import draw
from evaluation.report import Report, read_report
from evaluation.show import side_by_side
from lutrin.keep import weights

OUT = ROOT / "bench" / "out" / "accuracy"
PEERS = {"naive": "evaluation.peers.naive", "llamaindex": "evaluation.peers.llamaindex"}
TIERS = ("none", "tiny", "small", "medium")


def main() -> None:
    """Ask the systems that have no results yet; print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_question_options(parser)
    parser.set_defaults(limit=30)
    parser.add_argument("--again", nargs="*", default=[], help=f"of {', '.join((*TIERS, *PEERS))}: ask once more")
    parser.add_argument("--data-dir", type=Path, default=OUT / "data", help="index of the sample books")
    parser.add_argument("--only-show", action="store_true", help="ask nobody; show what is there, if anything is")
    arguments = parser.parse_args()
    ids = [question.id for question in chosen_questions(arguments)]
    names = [name for name in (*TIERS, *PEERS) if name in PEERS or _is_here(name)]
    if not arguments.only_show:
        OUT.mkdir(parents=True, exist_ok=True)
        asked = _subset(arguments.questions, ids)
        for name in names:
            if name in arguments.again or _known(name, ids) is None:
                _ask(name, asked, arguments.data_dir)
    reports = [found for name in names if (found := _known(name, ids)) is not None]
    if not reports:
        print("By model, with peers: not asked yet; `python -m evaluation.peers.accuracy` does, in an hour or less.")
        return
    print(f"By model, with peers ({len(ids)} questions):\n\n{side_by_side(reports)}")
    if not arguments.only_show:
        draw(reports, ROOT / "docs" / "accuracy.svg")


def _is_here(tier: str) -> bool:
    if tier == "none":
        return True
    return weights.state_of(ROOT / "models", weights.load_manifest(ROOT / "models").find(tier)) == "present"


def _subset(files: Sequence[Path], ids: Sequence[str]) -> Path:
    """The lines of the chosen questions as a file of their own."""
    chosen: Path = OUT / "questions.jsonl"
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    wanted = [line for line in lines if json.loads(line)["id"] in set(ids)]
    chosen.write_text("".join(f"{line}\n" for line in wanted), encoding="utf-8")
    return chosen


def _known(name: str, ids: Sequence[str]) -> Report | None:
    path = OUT / f"{name}.json"
    found = read_report(path) if path.exists() else None
    return found if found is not None and {item.id for item in found.outcomes} == set(ids) else None


def _ask(name: str, questions: Path, data_dir: Path) -> None:
    print(f"{name} ...", file=sys.stderr)
    target = OUT / f"{name}.json"
    if name in PEERS:
        command = [sys.executable, "-m", PEERS[name], "--questions", str(questions)]
        subprocess.run([*command, "--split", "all", "--save", str(target)], check=True, stdout=subprocess.DEVNULL)
        return
    lutrin = str(Path(sys.prefix) / "bin" / "lutrin")
    environment = {**os.environ, "LUTRIN_MODEL": name, "LUTRIN_PROFILE": "local"}
    for arguments in (["ingest", str(CORPUS)], ["eval", str(questions), "--save", str(target)]):
        command = [lutrin, arguments[0], "--data-dir", str(data_dir), *arguments[1:]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


if __name__ == "__main__":
    main()
