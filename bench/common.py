"""Shared by the benchmarks: the path of the checkout's packages, and the memory of a process."""

import resource
import sys
from pathlib import Path

# Benchmarks are scripts: `evaluation` and `loadtests` are siblings of their folder.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from evaluation.command_line import (
    CORPUS,
    EMBED_MODEL,
    QUESTIONS,
    ROOT,
    add_question_options,
    chosen_questions,
    finish,
    machine,
    spread,
)

__all__ = [
    "CORPUS",
    "EMBED_MODEL",
    "QUESTIONS",
    "ROOT",
    "add_question_options",
    "chosen_questions",
    "finish",
    "machine",
    "resident_mb",
    "spread",
]


def resident_mb() -> float:
    """Memory that this process holds now, in MB (Linux: `VmRSS`; elsewhere its highest so far)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(row for row in status.read_text(encoding="utf-8").splitlines() if row.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
