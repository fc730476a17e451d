"""The model reads each passage of the book once for all readers, and never stores a reader's words."""

import os
from array import array
from pathlib import Path

import pytest
from tests.fakes_generator import BEGIN, NEXT

from lutrin.generate.prefix import SUFFIX, PassageLimits, PassageStore
from lutrin.generate.scheduler import Limits, Rejection
from lutrin.records import Finished, Message, Piece

from .room import SYSTEM, Room, asking, expected

SECTION = "The sensorimotor loop joins sensing, deciding and acting. " * 2
MANY = 1 << 20


def store(folder: Path | str = "", *, memory: int = MANY, disk: int = MANY, made_by: str = "m") -> PassageStore:
    """A store with its files in a folder."""
    return PassageStore(PassageLimits(memory_bytes=memory, disk_bytes=disk, folder=str(folder)), made_by)


def room(kept: PassageStore, *, context_tokens: int = 4000) -> Room:
    """Readers of a model that was just loaded."""
    return Room(Limits(slots=4, queue=20, prefill_tokens=32), 8, context_tokens, store=kept)


def filled(folder: Path) -> str:
    """Read a section and ask a question about it; return the name of the state that is then on disk."""
    first = room(store(folder))
    first.ask("Why?", section=SECTION)
    first.drain()
    (path,) = folder.iterdir()
    return path.stem


def test_a_passage_that_was_read_costs_its_tail_alone(tmp_path: Path) -> None:
    """Also for a model that was loaded since, and however the question goes on."""
    filled(tmp_path)
    for question in ("Why?", "How does it work?", ""):
        fresh = room(store(tmp_path))
        id_ = fresh.ask(question, section=SECTION, max_tokens=1)
        fresh.drain()
        assert fresh.decoder.computed == len(question) + 1
        assert expected(fresh.requests[id_]).startswith(fresh.text(id_))
        assert (fresh.scheduler.figures.hits, fresh.scheduler.figures.misses) == (1, 0)
        assert fresh.scheduler.figures.tokens_saved == len(SYSTEM) + len(SECTION) + 2


def test_stored_and_computed_beginnings_give_the_same_answer(tmp_path: Path) -> None:
    """Word for word, beside readers of other passages."""
    filled(tmp_path)
    texts = []
    for kept in (store(), store(tmp_path)):
        one = room(kept)
        ids = [one.ask(f"Question {n}?", section=(SECTION, SECTION[:60])[n % 2]) for n in range(6)]
        one.drain()
        texts.append([one.text(id_) for id_ in ids])
        assert texts[-1] == [expected(one.requests[id_]) for id_ in ids]
    assert texts[0] == texts[1]


def test_a_passage_that_several_wait_for_is_read_once() -> None:
    """Ten who ask about one section at the same moment cost it once; nine of them find it read."""
    one = Room(Limits(slots=10), 16, 4000, store=store())
    for n in range(10):
        one.ask(f"Question {n}?", section=SECTION, max_tokens=1)
    one.drain()
    assert one.decoder.computed < len(SYSTEM) + len(SECTION) + 10 * 14
    assert (one.scheduler.figures.hits, one.scheduler.figures.misses) == (9, 1)


def test_nothing_of_a_reader_is_kept(tmp_path: Path) -> None:
    """A state holds the rules and the section, not the question; and nothing behind a conversation is the book's."""
    one = room(store(tmp_path))
    one.ask("My name is Ada.", section=SECTION)
    one.ask("My name is Ada, and this is no section.")
    one.ask("Is it so?", section=SECTION + "More.", between=("YES", "NO"))
    talk = asking("Why?", SECTION).messages
    said = asking("Why?", SECTION)
    spoken = (talk[0], Message(role="user", content="My name is Ada."), talk[1])
    one.scheduler.submit(9, type(said)(messages=spoken, max_tokens=4, deadline_s=9, stable_chars=len(SECTION)), 1e9)
    one.told[9] = []
    one.drain()
    states = [array("i", path.read_bytes()[32:]).tolist() for path in tmp_path.iterdir()]
    assert sorted(states, key=len) == [
        [NEXT, *SYSTEM.encode(), NEXT, *SECTION.encode()],
        [NEXT, *SYSTEM.encode(), NEXT, *(SECTION + "More.").encode()],
    ]
    assert not any(BEGIN in state for state in states)


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, None])
def test_a_damaged_file_is_read_anew(tmp_path: Path, damage: bytes | None) -> None:
    """Cut, overwritten or with one bit changed: the answer is right, and a good file takes its place."""
    path = tmp_path / f"{filled(tmp_path)}{SUFFIX}"
    good = path.read_bytes()
    path.write_bytes(damage if damage is not None else good[:-1] + bytes([good[-1] ^ 1]))
    one = room(store(tmp_path))
    id_ = one.ask("Why?", section=SECTION)
    one.drain()
    assert one.text(id_) == expected(one.requests[id_])
    assert one.scheduler.figures.misses == 1
    assert path.read_bytes() == good


def test_a_file_under_the_name_of_another_is_not_believed(tmp_path: Path) -> None:
    """The digest of a file covers its name."""
    name = filled(tmp_path)
    other = "0" * len(name)
    (tmp_path / f"{name}{SUFFIX}").rename(tmp_path / f"{other}{SUFFIX}")
    kept = store(tmp_path)
    assert other in kept
    assert kept.get(other) is None
    assert other not in kept
    assert not list(tmp_path.iterdir())


def test_a_state_that_the_model_refuses_is_replaced() -> None:
    """A right file with a state of another length: the passage is read, and the next one finds it."""
    kept = store()
    tokens = [NEXT, *SYSTEM.encode(), NEXT, *SECTION.encode()]
    kept.put(kept.key(tokens), array("i", tokens[:-1]).tobytes())
    one = room(kept)
    id_ = one.ask("Why?", section=SECTION)
    one.drain()
    assert one.text(id_) == expected(one.requests[id_])
    assert kept.get(kept.key(tokens)) == array("i", tokens).tobytes()


def test_states_of_another_model_are_never_found(tmp_path: Path) -> None:
    """The key of a state includes its model and engine."""
    name = filled(tmp_path)
    tokens = [NEXT, *SYSTEM.encode(), NEXT, *SECTION.encode()]
    assert store(tmp_path).key(tokens) == name
    assert store(tmp_path, made_by="another").key(tokens) not in store(tmp_path, made_by="another")


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    """In memory and on disk, each within its size; what is too large for memory is not kept at all."""
    kept = store(tmp_path, memory=300, disk=400)
    for name in ("a", "b", "c"):
        kept.put(name, name.encode() * 100)
        kept.write()
    os.utime(tmp_path / f"a{SUFFIX}", (1, 1))
    assert kept.get("a")
    kept.put("d", b"d" * 100)
    kept.write()
    assert kept.memory_bytes == 300
    assert kept.disk_bytes <= 400
    assert ["a" in kept, "b" in kept, "d" in kept] == [True, False, True]
    kept.put("e", b"e" * 301)
    assert "e" not in kept
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["a", "c", "d"]


def test_files_that_vanish_or_cannot_be_written_cost_nobody_an_answer(tmp_path: Path) -> None:
    """Another server may remove a file, and a disk may refuse: the passage is read again."""
    name = filled(tmp_path)
    one = room(store(tmp_path))
    (tmp_path / f"{name}{SUFFIX}").unlink()
    id_ = one.ask("Why?", section=SECTION)
    one.drain()
    assert one.text(id_) == expected(one.requests[id_])
    (tmp_path / "file").write_bytes(b"")
    blocked = room(store(tmp_path / "file" / "folder"))
    id_ = blocked.ask("Why?", section=SECTION)
    blocked.drain()
    assert blocked.text(id_) == expected(blocked.requests[id_])
    assert blocked.scheduler.figures.disk_bytes == 0


def test_likely_passages_are_read_while_nobody_waits() -> None:
    """On one core, in short steps; who asks then waits for the question alone."""
    one = room(store())
    one.scheduler.warm([asking("", SECTION), asking("", SECTION + "More."), asking("", "")])
    one.drain()
    assert one.decoder.gentle == one.decoder.steps > 0
    before = one.decoder.computed
    assert before < len(SYSTEM) + len(SECTION) + 40
    one.ask("Why?", section=SECTION + "More.", max_tokens=1)
    one.drain()
    assert one.decoder.computed - before == len("Why?") + 1
    assert one.scheduler.figures.hits == 1


def test_warming_stops_when_a_reader_comes() -> None:
    """The next step is the reader's; what was read so far is not lost, and is gone on with afterwards."""
    one = room(store())
    one.scheduler.warm([asking("", SECTION)])
    for _ in range(4):
        one.step()
    gentle = one.decoder.gentle
    assert gentle == 4
    id_ = one.ask("What is a robot?")
    while not isinstance(one.told[id_][-1] if one.told[id_] else None, Finished):
        one.step()
        assert one.decoder.gentle == gentle
    assert one.text(id_) == expected(one.requests[id_])
    computed = one.decoder.computed
    one.drain()
    assert one.decoder.gentle > gentle
    assert one.decoder.computed - computed < len(SYSTEM) + len(SECTION)


def test_whose_passage_was_read_does_not_wait_for_one_that_was_not(tmp_path: Path) -> None:
    """A tail is read before another reader's passage, which still gets its turn."""
    filled(tmp_path)
    one = room(store(tmp_path))
    one.ask("A reader who was here before.", max_tokens=1)
    one.drain()
    slow = one.ask("Why?", section=f"Nobody has read {' '.join(map(str, range(40)))}. ")
    quick = one.ask("Why?", section=SECTION)
    one.step()
    assert any(isinstance(event, Piece) for event in one.told[quick])
    assert not any(isinstance(event, Piece) for event in one.told[slow])
    one.drain()
    assert one.text(slow) == expected(one.requests[slow])


def test_a_failed_step_while_warming_is_no_ones_loss() -> None:
    """The likely passages are forgotten; readers who come later are served."""
    one = room(store())
    one.scheduler.warm([asking("", SECTION)])
    one.step()
    one.decoder.fail_next = True
    one.drain()
    id_ = one.ask("Why?", section=SECTION)
    one.drain()
    assert one.text(id_) == expected(one.requests[id_])


def test_what_is_read_for_a_reader_is_used_before_the_next_passage_is_read() -> None:
    """Ten ask at the same moment, each about a passage of their own: three are answered in time, not ten too late."""
    room = Room(Limits(slots=10, queue=20, guesses=0), sequences=24, context_tokens=9000, store=store())
    room.ask("Why does a robot fall?", section="A robot falls where it slips. ", max_tokens=30)
    room.drain()  # now it is known how long things take
    answers = []
    for number in range(10):
        section = f"{number} " + f"Section {number} says this. " * 8
        peer, odds = str(number), ("YES", "NO")
        room.ask("So? Yes or no?", section=section, peer=peer, wait_s=20, between=odds, max_tokens=1)
        answers.append(room.ask("So?", section=section, peer=peer, wait_s=20, max_tokens=40))
    room.drain()
    whole = [id_ for id_ in answers if isinstance(last := room.last(id_), Finished) and last.reason == "length"]
    assert len(whole) >= 3
    assert all(isinstance(room.last(id_), Rejection) or id_ in whole for id_ in answers)
