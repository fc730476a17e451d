"""The process that forks for each file: quick, replaced when it dies, alone with its file, and gone with its parent."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.end_to_end.processes import children, wait_until
from tests.ingest.test_hostile import BOMBS

from lutrin.errors import DocumentError
from lutrin.ingest.formats import all_formats
from lutrin.ingest.sandbox import read_in_sandbox, read_plainly

PAGE = b"<h1>Kilns</h1><p>A kiln bakes clay.</p>"
BOMB = b"[a](" * 2_000_000
"""Markdown that takes minutes."""


def zygotes(pid: int | None = None) -> list[int]:
    """The processes that fork for files, of this process or another."""
    own = children(pid or os.getpid())
    return [child for child in own if b"lutrin.ingest.sandbox" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.fixture(autouse=True)
def fresh() -> None:
    """No zygote from another test."""
    for pid in zygotes():
        os.kill(pid, signal.SIGKILL)
    read_in_sandbox(PAGE, "a.html")


def test_the_next_file_costs_a_fork() -> None:
    """No start of Python, and no library loaded or pattern compiled again; the zygote stays the same."""
    before = zygotes()
    began = time.process_time(), time.monotonic()
    for number in range(10):
        assert read_in_sandbox(PAGE, f"{number}.html").title == "Kilns"
    assert time.monotonic() - began[1] < 2
    assert zygotes() == before
    assert len(before) == 1


def test_one_that_was_killed_is_replaced() -> None:
    """Between two files this goes unnoticed, and during a file another process reads it again."""
    (before,) = zygotes()
    os.kill(before, signal.SIGKILL)
    assert read_in_sandbox(PAGE, "a.html").title == "Kilns"
    (now,) = zygotes()
    assert now != before
    outcome: list[str] = []

    def read() -> None:
        try:
            read_in_sandbox(BOMB, "bomb.md", time_limit_s=2)
        except DocumentError as error:
            outcome.append(error.detail)

    reader = threading.Thread(target=read)
    reader.start()
    wait_until(lambda: bool(children(now)), 10, "a fork")
    (fork,) = children(now)
    os.kill(now, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{fork}").exists(), 5, "the fork to end with its zygote")
    reader.join(30)
    assert outcome == ["bomb.md: could not be read within 2 s"]


def test_threads_do_not_wait_for_each_other() -> None:
    """While one reads a file that takes long, another reads its own; what is killed costs one error line."""
    outcome: list[str] = []

    def read() -> None:
        try:
            read_in_sandbox(BOMB, "bomb.md", time_limit_s=3)
        except DocumentError as error:
            outcome.append(error.detail)

    slow = threading.Thread(target=read)
    slow.start()
    wait_until(lambda: any(children(pid) for pid in zygotes()), 10, "a fork")
    titles = []
    quick = [threading.Thread(target=lambda: titles.append(read_in_sandbox(PAGE, "a.html").title)) for _ in range(3)]
    for thread in quick:
        thread.start()
    for thread in quick:
        thread.join(20)
    assert titles == ["Kilns"] * 3
    assert slow.is_alive()
    slow.join(30)
    assert outcome == ["bomb.md: could not be read within 3 s"]


def test_it_knows_no_secret_and_holds_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of its parent are not in its environment, the parent's files and sockets not in its hands."""
    monkeypatch.setenv("LUTRIN_ADMIN_TOKEN", "sesame")
    (pid,) = zygotes()
    os.kill(pid, signal.SIGKILL)
    with Path(__file__).open("rb") as secret:
        os.set_inheritable(secret.fileno(), True)
        read_in_sandbox(PAGE, "a.html")
    (pid,) = zygotes()
    assert b"sesame" not in Path(f"/proc/{pid}/environ").read_bytes()
    held = [str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    assert sorted(name.partition(":")[0] for name in held) == ["/dev/null"] * 3 + ["socket"]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_survives_the_parent(sign: signal.Signals) -> None:
    """Whatever signal ends the parent during a file that may take an hour."""
    code = (
        "from lutrin.ingest.sandbox import read_in_sandbox\n"
        "read_in_sandbox(b'<p>Words.</p>', 'a.html')\n"
        "read_in_sandbox(b'[a](' * 2_000_000, 'bomb.md', time_limit_s=3600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as parent:
        wait_until(lambda: any(children(pid) for pid in zygotes(parent.pid)), 20, "a fork")
        (zygote,) = zygotes(parent.pid)
        family = [zygote, *children(zygote)]
        parent.send_signal(sign)
        parent.wait(10)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), 5, "all of them to end")


def test_what_is_read_without_limits_is_short() -> None:
    """Markdown of the largest size read without limits takes a fraction of a second; all else has limits."""
    trusted = {suffix: kind.trusted_bytes for suffix, kind in all_formats().items() if kind.trusted_bytes}
    assert trusted == dict.fromkeys([".md", ".markdown", ".mdx", ".qmd", ".rmd"], 8_192)
    for name, bomb in BOMBS.items():
        text = bomb.encode()[:8_192]
        began_s = time.process_time()
        with contextlib.suppress(DocumentError):
            read_plainly(text, "bomb.mdx")
        assert time.process_time() - began_s < 1, name


@pytest.mark.parametrize(
    ("bomb", "text"),
    [(b"^[" * 65_000, "^[" * 65_000), (b"[^a]: x\n" * 8_000, "x" * 8_000), (b"`" * 64_000, "")],
    ids=["notes", "targets", "fence"],
)
def test_markdown_made_to_be_slow_is_read_in_seconds(bomb: bytes, text: str) -> None:
    """Footnotes without end are text, the same one a thousand times is shown as often, a fence alone shows nothing."""
    began_s = time.monotonic()
    document = read_in_sandbox(bomb, "a.md")
    assert time.monotonic() - began_s < 30
    assert "".join(unit.text for section in document.sections for unit in section.units) == text
