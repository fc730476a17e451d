"""How long `lutrin serve` takes to be ready, and what it holds: 2,500 chunks, files of the disk in the page cache.

    python bench/cold_start.py [--chunks 2500] [--starts 5]

The book is that of `bench/http_retrieval.py`. Seconds run from the start of the process to the first `/ready` that is
200 (a question would be answered, by quotes), to the model in memory, and to the first answer. Resident memory is that
of the server's process after twenty questions; the model's process is counted beside it, for it holds the model.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import httpx
from chaos_hold import family
from common import ROOT, finish, machine
from http_retrieval import CHUNKS_OF_A_COPY, OUT, write_copies

from evaluation.show import aligned
from loadtests import server

MOST_S, MOST_MB = 5.0, 400.0
QUESTIONS = [f"What is {topic}?" for topic in (
    "a costmap", "the sensorimotor loop", "inverse kinematics", "a Kalman filter", "domain randomisation",
    "a URDF file", "visual SLAM", "an actuator", "a depth camera", "a digital twin",
)]  # fmt: skip


def resident_mb(pid: int) -> float:
    """Memory of one process, pages shared with others counted in full (proc(5): VmRSS)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def start(environment: dict[str, str], port: int) -> tuple[float, float, float, float, float]:
    """Start once: seconds to ready, to the model, to the first answer; MB of the server, and of its other processes."""
    began_s = time.monotonic()
    command = [str(server.LUTRIN), "serve", "--port", str(port)]
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
                ready_s = model_s = 0.0
                while not model_s:
                    state = readiness(client)
                    if state.get("ready"):
                        ready_s = ready_s or time.monotonic() - began_s
                        model_s = time.monotonic() - began_s if state["model_ready"] or not state["model"] else 0.0
                    time.sleep(0.02)
                client.post("/api/query", json={"query": "What is embodied intelligence?"}).raise_for_status()
                first_s = time.monotonic() - began_s
                for text in QUESTIONS * 2:
                    client.post("/api/query", json={"query": f"{text} "}).raise_for_status()
            others = sum(resident_mb(pid) for pid in family(process.pid)[1:])
            return ready_s, model_s, first_s, resident_mb(process.pid), others
        finally:
            process.terminate()


def readiness(client: httpx.Client) -> dict[str, object]:
    """The reply of `/ready`; empty while no server listens."""
    try:
        reply = client.get("/ready")
    except httpx.TransportError:
        return {}
    return dict(reply.json())


def main() -> int:
    """Start several times and print the middle of each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=2500)
    parser.add_argument("--starts", type=int, default=5)
    arguments = parser.parse_args()
    place = OUT / "cold-start"
    shutil.rmtree(place, ignore_errors=True)
    corpus = write_copies(place / "corpus", -(-arguments.chunks // CHUNKS_OF_A_COPY))
    model = os.environ.get("LUTRIN_MODEL", "small")
    environment = server.settings(place / "data", model) | {"LUTRIN_LOG_LEVEL": "error"}
    server.ingest(corpus, environment)
    measured = [start(environment, 17860 + number) for number in range(arguments.starts)]
    ready_s, model_s, first_s, own_mb, other_mb = (statistics.median(column) for column in zip(*measured, strict=True))
    met = ready_s <= MOST_S and own_mb <= MOST_MB
    rows = [
        ["figure", "median", "goal"],
        ["start to ready", f"{ready_s:.2f} s", f"<= {MOST_S:g} s"],
        ["start to the first answer", f"{first_s:.2f} s", ""],
        ["start to the model in memory", f"{model_s:.2f} s", ""],
        ["server, resident", f"{own_mb:.0f} MB", f"<= {MOST_MB:g} MB"],
        ["model's process, resident", f"{other_mb:.0f} MB", ""],
    ]
    names = ("ready_s", "model_s", "first_answer_s", "server_mb", "model_process_mb")
    medians = (ready_s, model_s, first_s, own_mb, other_mb)
    data = {name: round(value, 3) for name, value in zip(names, medians, strict=True)}
    title = f"Cold start, {arguments.chunks} chunks, {arguments.starts} starts, model {model}"
    finish(title, [aligned(rows)], {**data, "met": met}, machine("litestar", "chromadb", "onnxruntime"))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
