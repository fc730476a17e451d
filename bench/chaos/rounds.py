"""The trials of an ingest; each returns its figures, or raises AssertionError if it fails."""

# ruff: noqa: S101 - a trial is a test, and its assertions are its result

import asyncio
import errno
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from chaos.press import PATIENCE_S, Answer, Child, Press
from tests.fakes import WordHashEmbedder

from lutrin.adapters.index_chroma import ChromaStore
from lutrin.index.shelf import Shelf

LOSERS_LEAVE_S = 1.0


def kills(root: Path, count: int, disk: Any, seed: int) -> dict[str, Any]:  # noqa: ANN401 - a ctypes library
    """`kill -9` at a random call on the data folder, or at a random moment, until it struck `count` times."""
    press = Press(root, seed, disk)
    known = press.start(fresh=True).answer()
    calls, seconds = known["calls"], known["seconds"]
    press.embedded()
    done = {"kills": 0, "old": 0, "new": 0, "missed": 0, "embedded_twice": 0, "calls_of_an_ingest": calls}
    before = press.snapshot()
    while done["kills"] < count:
        press.edit()
        after = press.snapshot()
        strikes = 0
        while True:
            # Some runs are killed again while they clean up and finish what the first one left.
            by_call = press.rng.random() < 0.6
            child = press.start(at=press.rng.randint(1, calls) if by_call else 0)
            if not by_call:
                child.kill_after(press.rng.random() * seconds)
            killed = child.answer().get("killed", False)
            done["kills" if killed else "missed"] += 1
            strikes += killed
            state = press.inspect()
            _require_whole(state, before, after)
            if killed:
                done["old" if state["files"] == before else "new"] += 1
            if not killed or press.rng.random() < 0.6 or done["kills"] >= count:
                break
        press.embedded()
        last = press.start(fresh=strikes % 10 == 1).answer()
        assert "calls" in last, f"the next run failed: {last}"
        done["embedded_twice"] += len(set(press.embedded()) & set(state["cached"]))
        calls = max(calls // 2, last["calls"]) if last["calls"] else calls
        state = press.inspect()
        assert state["files"] == after, "the next run did not finish the work"
        assert not state["strangers"], f"left behind: {state['strangers']}"
        before = after
    assert done["embedded_twice"] == 0, f"{done['embedded_twice']} texts embedded twice"
    shutil.rmtree(root)
    return done


def failures(root: Path, count: int, disk: Any, seed: int) -> dict[str, Any]:  # noqa: ANN401 - a ctypes library
    """ENOSPC from the Nth call on, EIO once and EIO from there on, at `count` calls spread over an ingest."""
    press = Press(root, seed, disk)
    calls = press.start().answer()["calls"]
    before = press.snapshot()
    done: dict[str, Any] = {"failures": 0, "survived": 0, "messages": {}}
    kinds = ((errno.ENOSPC, True), (errno.EIO, False), (errno.EIO, True))
    for number in range(count):
        press.edit()
        after = press.snapshot()
        mode, lasting = kinds[number % len(kinds)]
        at = 1 + int(calls * (number + press.rng.random()) / count)
        answer = press.start(at=at, mode=mode, lasting=lasting).answer()
        done["failures"] += 1
        if "error" in answer:
            assert answer["detail"], answer
            line = f"{answer['error']}: {answer['detail']}"
            done["messages"][line] = done["messages"].get(line, 0) + 1
            assert not lasting or answer["error"] in {"NotEnoughSpace", "IngestError", "VerificationFailed"}, answer
        else:
            done["survived"] += 1
        _require_whole(press.inspect(), before, after)
        press.start().answer()
        state = press.inspect()
        assert state["files"] == after, "the next run did not finish the work"
        assert not state["strangers"], f"left behind: {state['strangers']}"
        before = after
    shutil.rmtree(root)
    return done


def full_disk(root: Path, seed: int) -> dict[str, Any]:
    """A file system that is really full, where this machine lets one be mounted."""
    press = Press(root, seed)
    press.data.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(press.data)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        shutil.rmtree(root)
        return {"full_disk": "skipped: mounting is not permitted"}
    try:
        press.start().answer()
        before = press.snapshot()
        filler = press.data / "filler"
        rounds = 0
        for spare_kib in (0, 64, 256, 1024, 2048):
            press.edit()
            after = press.snapshot()
            free = os.statvfs(press.data)
            filler.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - spare_kib * 1024))
            answer = press.start().answer()
            assert answer.get("error", "NotEnoughSpace") == "NotEnoughSpace", answer
            rounds += answer.get("error") == "NotEnoughSpace"
            filler.unlink()
            _require_whole(press.inspect(), before, after)
            press.start().answer()
            assert press.inspect()["files"] == after
            before = after
    finally:
        subprocess.run(["umount", "-l", str(press.data)], check=True)
    shutil.rmtree(root)
    return {"full_disk": f"{rounds} of 5 runs found the disk full and said so"}


def crowds(root: Path, count: int, seed: int) -> dict[str, Any]:
    """Eight ingests at once: one does the work, the others leave within a second."""
    press = Press(root, seed)
    slowest = 0.0
    for _ in range(count):
        press.edit()
        answers = [child.answer() for child in [press.start() for _ in range(8)]]
        won = [answer for answer in answers if answer.get("published")]
        left = [answer["left_after_s"] for answer in answers if "left_after_s" in answer]
        late = [answer for answer in answers if answer.get("published") == []]
        assert len(won) == 1, answers
        assert len(left) + len(late) == 7, answers
        slowest = max(slowest, *left)
        assert press.inspect()["files"] == press.snapshot()
    assert slowest <= LOSERS_LEAVE_S, f"a loser took {slowest:.2f} s to leave"
    shutil.rmtree(root)
    return {"crowds": count, "slowest_loser_s": round(slowest, 3)}


def under_load(root: Path, count: int, seed: int, quiet_s: float = 10.0) -> dict[str, Any]:
    """Re-ingests while a reader asks 20 questions a second: none fails, and how much slower they become."""
    press = Press(root, seed)
    press.start().answer()
    stop = root / "stop"
    quiet = _reader(press, stop)
    time.sleep(quiet_s)
    stop.touch()
    calm = quiet.answer()
    stop.unlink()
    busy = _reader(press, stop)
    for _ in range(count):
        press.edit()
        press.start(fresh=True).answer()
    stop.touch()
    tense = busy.answer()
    assert tense["failed"] == calm["failed"] == 0, tense
    assert tense["generations"] > 1, tense
    shutil.rmtree(root)
    return {
        "re_ingests": count,
        "questions": tense["asked"],
        "failed": tense["failed"],
        "generations_seen": tense["generations"],
        "p95_quiet_ms": calm["p95_ms"],
        "p95_busy_ms": tense["p95_ms"],
        "p95_ratio": round(tense["p95_ms"] / calm["p95_ms"], 2),
    }


def swaps(root: Path, count: int, seed: int) -> dict[str, Any]:
    """Index swaps in one reader: file handles, threads and memory before and after."""
    press = Press(root, seed)
    press.start().answer()
    turn, reply = os.pipe(), os.pipe()

    async def work() -> Answer:
        settings = press.settings()
        store = ChromaStore(press.data / "scratch")
        counts = []
        async with Shelf(settings.catalog_path, settings.books_dir, store, poll_s=3600) as shelf:
            embedder = WordHashEmbedder()
            while os.read(turn[0], 1) == b"g":
                await shelf.refresh()
                async with shelf.lease() as generation:
                    (question,) = await embedder.encode(["lidar torque"])
                    await generation.nearest(question.windows[0], 5)
                    await generation.matching("lidar torque", 5)
                await asyncio.sleep(0.02)
                counts.append(_resources())
                os.write(reply[1], b".")
        return {"counts": counts}

    child = Child(work, patience_s=count * PATIENCE_S)
    for _ in range(count):
        press.edit()
        press.start().answer()
        os.write(turn[1], b"g")
        os.read(reply[0], 1)
    os.write(turn[1], b"x")
    counts = child.answer()["counts"]
    for end in (*turn, *reply):
        os.close(end)
    # The first quarter warms up the pool of threads; a closed index lets go of its own within a few swaps.
    warm = max(1, len(counts) // 4)
    first, last = _settled(counts[max(0, warm - 5) : warm]), _settled(counts[-5:])
    figures = {"swaps": count} | {name: [first[name], last[name]] for name in first}
    figures["most_handles"] = max(item["handles"] for item in counts)
    assert last["handles"] <= first["handles"] + 2, figures
    assert last["threads"] <= first["threads"] + 2, figures
    assert last["memory_mb"] <= 1.1 * first["memory_mb"], figures
    shutil.rmtree(root)
    return figures


def _require_whole(state: Answer, before: dict[str, str], after: dict[str, str]) -> None:
    assert state["integrity"] == "ok", state["integrity"]
    assert state["files"] in (before, after), "the index is neither the old nor the new one"


def _reader(press: Press, stop: Path) -> Child:
    async def work() -> Answer:
        settings = press.settings()
        store = ChromaStore(press.data / "scratch")
        embedder = WordHashEmbedder()
        taken: list[float] = []
        failed, seen = 0, set()
        async with Shelf(settings.catalog_path, settings.books_dir, store) as shelf:
            while not stop.exists():  # noqa: ASYNC240 - one short call to see whether another process says stop
                started = time.perf_counter()
                try:
                    async with shelf.lease() as generation:
                        (question,) = await embedder.encode(["how does the lidar torque gait"])
                        found = await generation.nearest(question.windows[0], 10)
                        await generation.matching("lidar torque gait", 10)
                        places = await generation.places([name for name, _ in found])
                        vectors = generation.tokens.project(question.token_vectors)
                        generation.tokens.maxsim([(vectors, vectors[:, 0] * 0 + 1)], [row for row, _ in places])
                        seen.add(generation.name)
                except Exception as error:  # noqa: BLE001 - any failure counts
                    failed += 1
                    print(f"question failed: {error!r}")
                taken.append(time.perf_counter() - started)
                await asyncio.sleep(max(0.0, 0.05 - taken[-1]))
        taken.sort()
        p95 = round(taken[int(0.95 * len(taken))] * 1000, 2)
        return {"asked": len(taken), "failed": failed, "p95_ms": p95, "generations": len(seen)}

    return Child(work, patience_s=3600)


def _settled(counts: list[dict[str, float]]) -> dict[str, float]:
    """What is held when nothing is being closed: the least of a few looks."""
    return {name: min(item[name] for item in counts) for name in counts[0]}


def _resources() -> dict[str, float]:
    status = Path("/proc/self/status").read_text()
    memory = int(status.split("VmRSS:")[1].split()[0]) / 1024
    return {
        "handles": len(list(Path("/proc/self/fd").iterdir())),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "memory_mb": round(memory, 1),
    }
