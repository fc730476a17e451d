"""Questions without an answer, and a new key for the conversations."""

import re
from pathlib import Path

import pytest

from .conftest import FOUNDATIONS_SLUG, Lutrin, Servers

pytestmark = pytest.mark.model

NEAR = "How many robots does the city hospital of Geneva own?"
FAR = "What is the best recipe for onion soup?"
ANSWERED = "What is the sensorimotor loop?"
VAGUE = "Tell me more"


def test_gaps_name_questions_and_nobody_who_asked(serve: Servers, lutrin: Lutrin, data_dir: Path) -> None:
    """Unanswered questions are listed with chapter and count; answered ones and all ids are left out."""
    server = serve(data_dir)
    for session, text in (("alice", NEAR), ("bob", f"{NEAR} "), ("bob", FAR), ("bob", ANSWERED), ("carol", VAGUE)):
        body = {"session_id": session, "message": text, "book": FOUNDATIONS_SLUG}
        reply = server.client.post("/chat", json=body, headers={"X-Lutrin-Client": f"the-secret-of-{session}"})
        assert reply.status_code == 200
    found = {item["question"]: item for item in lutrin("gaps", "--json", data_dir=data_dir).json()}
    assert set(found) == {NEAR, FAR}
    assert found[NEAR]["times"] == 2
    assert found[FAR]["chapter"] == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found[FAR]["last"])
    shown = lutrin("gaps", data_dir=data_dir).out
    assert NEAR in shown
    assert "Far from the book" in shown
    for hidden in ("alice", "carol", "secret-of", VAGUE, ANSWERED):
        assert hidden not in shown + str(found)


def test_no_conversations_no_gaps(lutrin: Lutrin) -> None:
    """A library without questions has no gaps."""
    assert lutrin("gaps").out == "Readers have asked nothing that the books do not answer.\n"
    assert lutrin("gaps", "--json").json() == []


def test_the_key_is_rotated_and_conversations_stay(serve: Servers, lutrin: Lutrin, data_dir: Path) -> None:
    """While a server runs it is refused; then the old key opens nothing, and a trusted earlier backup still does."""
    server = serve(data_dir)
    server.client.post("/chat", json={"session_id": "s1", "message": ANSWERED})
    history = server.client.get("/history/s1").json()
    assert len(history["messages"]) == 2
    before = (data_dir / "chat.key").read_text("ascii")
    refused = lutrin("chats", "rotate-key", data_dir=data_dir)
    assert refused.code == 1
    assert "Stop it, then change the key." in refused.err
    assert (data_dir / "chat.key").read_text("ascii") == before
    server.end()
    earlier = data_dir.with_name("earlier.backup")
    assert lutrin("backup", earlier, data_dir=data_dir).code == 0

    rotated = lutrin("chats", "rotate-key", data_dir=data_dir)
    assert rotated.code == 0
    after = (data_dir / "chat.key").read_text("ascii")
    assert after != before
    assert after.strip() not in rotated.out + rotated.err
    assert lutrin("forget", "--all", data_dir=data_dir).code == 0
    assert lutrin("restore", earlier, "--trust", data_dir=data_dir).code == 0
    server.start()
    assert server.client.get("/history/s1").json() == history
    server.end()

    given = lutrin("chats", "rotate-key", data_dir=data_dir, LUTRIN_CHAT_KEY=after.strip())
    fresh = given.out.strip().removeprefix("LUTRIN_CHAT_KEY=")
    assert re.fullmatch(r"[0-9a-f]{64}", fresh)
    assert lutrin("gaps", data_dir=data_dir, LUTRIN_CHAT_KEY=after.strip()).code == 1
    assert lutrin("gaps", data_dir=data_dir, LUTRIN_CHAT_KEY=fresh).code == 0
