"""The container, built and started as an operator would: minutes to build, seconds to healthy, ready, and answering.

Needs `buildah`. Where no user namespaces are to be had (inside another container), set STORAGE_DRIVER=vfs and
BUILDAH_ISOLATION=chroot. The server listens on port 7860 of this machine meanwhile. Removes the container, keeps the
image.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

from common import ROOT, finish, machine

ADDRESS = "http://127.0.0.1:7860"
SESSION = "0123456789abcdef0123456789abcdef"
QUESTION = "What is the sensorimotor loop?"
LONGEST_S = 600


def buildah(*arguments: str) -> str:
    """Run buildah and return what it prints."""
    return subprocess.run(["buildah", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def build(tag: str, model: str) -> float:
    """Build the image; seconds."""
    started = time.monotonic()
    arguments = ["--format", "docker", "--build-arg", f"MODEL={model}", "--tag", tag, str(ROOT)]
    subprocess.run(["buildah", "build", *arguments], check=True, stdout=sys.stderr)
    return time.monotonic() - started


def started_as_configured(container: str, image: str) -> "subprocess.Popen[bytes]":
    """The image's own command, by the image's own user."""
    config = json.loads(buildah("inspect", "--type", "image", image))["OCIv1"]["config"]
    command = ["buildah", "run", "--user", config["User"], container, "--", *config["Cmd"]]
    return subprocess.Popen(command, stdout=sys.stderr, start_new_session=True)


def wait_for(path: str, process: "subprocess.Popen[bytes]") -> float:
    """Seconds until an address answers 200."""
    began = time.monotonic()
    while time.monotonic() - began < LONGEST_S:
        if process.poll() is not None:
            raise SystemExit("The container ended.")
        try:
            urllib.request.urlopen(ADDRESS + path, timeout=2).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return time.monotonic() - began
    raise SystemExit(f"{path} did not answer within {LONGEST_S} s.")


def ask() -> tuple[float, dict[str, Any]]:
    """Seconds until the answer of `/chat`, and the answer."""
    body = json.dumps({"session_id": SESSION, "message": QUESTION}).encode()
    request = urllib.request.Request(f"{ADDRESS}/chat", body, {"Content-Type": "application/json"})
    began = time.monotonic()
    with urllib.request.urlopen(request, timeout=60) as reply:
        return time.monotonic() - began, json.load(reply)


def main() -> None:
    """Build, start, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", default="", help="start this image, which was built before")
    parser.add_argument("--model", default="tiny", help="language model that is put into the image")
    options = parser.parse_args()
    image = options.image or "localhost/lutrin-bench"
    build_s = 0.0 if options.image else build(image, options.model)
    container = buildah("from", "--pull=never", image)
    try:
        process = started_as_configured(container, image)
        try:
            healthy_s = wait_for("/health", process)
            ready_s = healthy_s + wait_for("/ready", process)
            answer_s, answer = ask()
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)
    finally:
        buildah("rm", container)
    rows = {"start to healthy": healthy_s, "start to the first book read": ready_s, "its first answer": answer_s}
    if build_s:
        rows = {"build": build_s} | rows
    table = "\n".join(["| what | seconds |", "|---|---|", *(f"| {name} | {took:.1f} |" for name, took in rows.items())])
    said = f"Asked: {QUESTION} Answered: {answer['answer']} Sources: {', '.join(answer['sources'])}"
    finish("Container", [table, said], {"seconds": rows, "sources": answer["sources"]}, machine())


if __name__ == "__main__":
    main()
