"""The container, built and started as an operator would: minutes to build, seconds to healthy, ready, and answering.

    python bench/container.py [--debootstrap] [--model none] [--engine WHEEL#sha256=HEX] [--arch arm64]

Needs `buildah`. Has a folder read that is mounted in the place of the image's books, and asks about it; then starts the
image with its own books, and asks about those. The server listens on port 7860 of this machine meanwhile. Removes the
containers, keeps the image.

Where no registry of images can be reached, `--debootstrap` makes the base from Debian's packages (needs root), and
lets the build see this machine's certificates and settings of pip. STORAGE_DRIVER=vfs and BUILDAH_ISOLATION=chroot,
which need no user namespaces, are set unless you say otherwise.

`--arch arm64` builds and starts the image of another architecture. Linux has to know an emulator for its programs
(Debian 13: apt-get install qemu-user-binfmt); it takes ten to twenty times as long, so the image's own
books are not read there.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from common import ROOT, finish, machine

ADDRESS = "http://127.0.0.1:7860"
SESSION = "0123456789abcdef0123456789abcdef"
QUESTION = "What is the sensorimotor loop?"
PAGE = "# Tides\n\nThe moon pulls the sea, and the sea rises twice a day.\n"
OF_THE_PAGE = "What pulls the sea?"
LONGEST_S = 3600
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's and the containers' names of architectures that Linux names differently."""
EMULATORS = Path("/proc/sys/fs/binfmt_misc")
"""Folder in which Linux lists emulators of other architectures."""
SUITE = "trixie"
PACKAGES = "http://deb.debian.org/debian"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""The trusted certificates of the image."""
OWN_CERTIFICATES = Path("/usr/local/share/ca-certificates")
"""Further certificates of this machine, which Debian's package adds to that file."""
SEEN = (Path("/etc/pip.conf"), Path("/etc/uv/uv.toml"))
"""Files of this machine that say how package registries are reached; the build sees them, the image does not."""
UNPRIVILEGED = {"STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}


def buildah(*arguments: str) -> str:
    """Run buildah and return what it prints."""
    return subprocess.run(["buildah", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def check_emulator(arch: str) -> None:
    """End with one sentence where this machine cannot run programs of an architecture."""
    name = next((name for name, other in ARCHITECTURES.items() if other == arch), platform.machine())
    if name != platform.machine() and not any(EMULATORS.glob(f"*{name}*")):
        raise SystemExit(f"Linux knows no emulator for {arch} (Debian 13: apt-get install qemu-user-binfmt).")


def make_base(arch: str) -> str:
    """The smallest Debian as an image, once; its name."""
    base = f"localhost/debian:{SUITE}-slim-{arch}"
    known = subprocess.run(["buildah", "inspect", "--type", "image", base], check=False, capture_output=True)
    if known.returncode == 0:
        return base
    with tempfile.TemporaryDirectory(prefix="lutrin-base-") as name:
        root = str(Path(name, "root"))
        make = ["debootstrap", "--variant=minbase", f"--arch={arch}", SUITE, root, PACKAGES]
        subprocess.run(make, check=True, stdout=sys.stderr)
        subprocess.run(["chroot", root, "apt-get", "clean"], check=True)
        container = buildah("from", "--arch", arch, "scratch")
        buildah("copy", "--quiet", container, root, "/")
    if OWN_CERTIFICATES.exists():
        buildah("copy", "--quiet", container, str(OWN_CERTIFICATES), str(OWN_CERTIFICATES))
    for variable in ("SSL_CERT_FILE", "PIP_CERT"):
        buildah("config", "--env", f"{variable}={CERTIFICATES}", container)
    buildah("config", "--cmd", "bash", "--arch", arch, container)
    buildah("commit", "--quiet", container, base)
    buildah("rm", container)
    return base


def build(tag: str, options: argparse.Namespace) -> float:
    """Build the image; seconds."""
    arguments = ["--format", "docker", "--arch", options.arch, "--build-arg", f"MODEL={options.model}", "--tag", tag]
    if options.engine:
        arguments += ["--build-arg", f"ENGINE={options.engine}"]
    if options.debootstrap:
        arguments += ["--pull=never", "--build-arg", f"BASE={make_base(options.arch)}"]
        arguments += [word for file in SEEN if file.exists() for word in ("--volume", f"{file}:{file}:ro")]
    started = time.monotonic()
    subprocess.run(["buildah", "build", *arguments, str(ROOT)], check=True, stdout=sys.stderr)
    return time.monotonic() - started


def configured(image: str) -> dict[str, Any]:
    """What the image says of itself."""
    found: dict[str, Any] = json.loads(buildah("inspect", "--type", "image", image))["OCIv1"]["config"]
    return found


def started_as_configured(container: str, image: str, *options: str) -> "subprocess.Popen[bytes]":
    """The image's own command, by the image's own user."""
    config = configured(image)
    command = ["buildah", "run", "--user", config["User"], *options, container, "--", *config["Cmd"]]
    return subprocess.Popen(command, stdout=sys.stderr, start_new_session=True)


def wait_for(path: str, process: "subprocess.Popen[bytes]") -> float:
    """Seconds until an address answers 200."""
    began = time.monotonic()
    while time.monotonic() - began < LONGEST_S:
        if process.poll() is not None:
            raise SystemExit("The container ended.")
        try:
            urllib.request.urlopen(ADDRESS + path, timeout=20).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return time.monotonic() - began
    raise SystemExit(f"{path} did not answer within {LONGEST_S} s.")


def ask(question: str) -> tuple[float, dict[str, Any]]:
    """Seconds until the answer of `/chat`, and the answer."""
    body = json.dumps({"session_id": SESSION, "message": question}).encode()
    request = urllib.request.Request(f"{ADDRESS}/chat", body, {"Content-Type": "application/json"})
    began = time.monotonic()
    with urllib.request.urlopen(request, timeout=600) as reply:
        return time.monotonic() - began, json.load(reply)


def tried(image: str, question: str, *options: str) -> tuple[dict[str, float], dict[str, Any]]:
    """Start a container, wait until it is healthy by its own check and ready, ask, end it."""
    architecture = json.loads(buildah("inspect", "--type", "image", image))["OCIv1"]["architecture"]
    container = buildah("from", "--pull=never", "--arch", architecture, image)
    try:
        process = started_as_configured(container, image, *options)
        try:
            healthy_s = wait_for("/health", process)
            ready_s = healthy_s + wait_for("/ready", process)
            check = json.loads(buildah("inspect", "--type", "image", image))["Docker"]["config"]["Healthcheck"]["Test"]
            buildah("run", "--user", configured(image)["User"], container, "--", "sh", "-c", check[-1])
            answer_s, answer = ask(question)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)
    finally:
        buildah("rm", container)
    return {
        "start to healthy": healthy_s,
        "start to the first book read": ready_s,
        "its first answer": answer_s,
    }, answer


def main() -> None:
    """Build, start, ask, mount, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", default="", help="start this image, which was built before")
    parser.add_argument("--model", default="none", help="language model that is put into the image")
    parser.add_argument("--engine", default="", help="a wheel below requirements/ with its hash, see Containerfile")
    parser.add_argument("--debootstrap", action="store_true", help="make the base image from Debian's packages")
    own = ARCHITECTURES.get(platform.machine(), platform.machine())
    kinds = sorted({own, *ARCHITECTURES.values()})
    parser.add_argument("--arch", default=own, choices=kinds, help="architecture of the image (%(default)s)")
    options = parser.parse_args()
    if not shutil.which("buildah"):
        raise SystemExit("buildah is missing (Debian: apt-get install buildah debootstrap).")
    check_emulator(options.arch)
    os.environ.update({name: value for name, value in UNPRIVILEGED.items() if name not in os.environ})
    image = options.image or "localhost/lutrin-bench"
    build_s = 0.0 if options.image else build(image, options)
    with tempfile.TemporaryDirectory(prefix="lutrin-mounted-") as name:
        Path(name).chmod(0o755)
        Path(name, "tides.md").write_text(PAGE, encoding="utf-8")
        mounted, other = tried(image, OF_THE_PAGE, "--volume", f"{name}:/opt/lutrin/corpus:ro")
    if "moon pulls the sea" not in other["answer"]:
        raise SystemExit(f"The mounted folder was not read; the answer was: {other['answer']}")
    print(f"A mounted folder was read: {mounted}", file=sys.stderr, flush=True)
    rows: dict[str, float] = {}
    asked, answer = OF_THE_PAGE, other
    if options.arch == own:
        asked = QUESTION
        rows, answer = tried(image, QUESTION)
        mounted = {f"{name}, a mounted folder": took for name, took in mounted.items()}
    rows |= mounted
    if build_s:
        rows = {"build": build_s} | rows
    table = "\n".join(["| what | seconds |", "|---|---|", *(f"| {name} | {took:.1f} |" for name, took in rows.items())])
    size = next(row["size"] for row in json.loads(buildah("images", "--json")) if image in str(row["names"]))
    said = f"Asked: {asked} Answered: {answer['answer']} Sources: {', '.join(answer['sources'])}"
    finish("Container", [table, f"Size: {size}.", said], {"seconds": rows, "size": size}, machine())


if __name__ == "__main__":
    main()
