"""A reader over HTTP, and what conformance checks in the answers."""

import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Any

import httpx
import msgspec

from lutrin.records import Answer

OK = httpx.codes.OK
Replies = dict[str, dict[str, dict[str, Any]]]
"""Replies of `/chat` by kind of question and by question."""
IN_BOOK = [
    "What is the sensorimotor loop?",
    "What is a costmap?",
    "What is inverse kinematics?",
    "What is a Kalman filter?",
    "How does a depth camera measure distance?",
    "What is domain randomisation?",
    "What is a URDF file?",
    "What is the zero-moment point?",
    "What is a quality of service in ROS 2?",
    "What is visual SLAM?",
]
"""Questions that the sample book answers."""


class Reader:
    """Asks a server; each method is one request.

    Args:
        client: Of the server.
    """

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def answer(self, path: str, **fields: Any) -> Answer:
        """The Answer of `/api/query` or one of the `/query` family."""
        response = self.client.post(path, json=fields)
        assert response.status_code == OK, response.text
        return msgspec.json.decode(response.content, type=Answer)

    def chat(self, session: str, message: str, **headers: str) -> dict[str, Any]:
        """The reply of `/chat`."""
        response = self.client.post("/chat", json={"session_id": session, "message": message}, headers=headers)
        assert response.status_code == OK, response.text
        reply: dict[str, Any] = response.json()
        return reply

    def history(self, session: str, **headers: str) -> list[dict[str, Any]]:
        """The messages of a conversation."""
        response = self.client.get(f"/history/{session}", headers=headers)
        assert response.status_code == OK, response.text
        messages: list[dict[str, Any]] = response.json()["messages"]
        return messages

    def passages(self, query: str, **fields: Any) -> list[dict[str, Any]]:
        """The array of `/api/retrieve`."""
        response = self.client.post("/api/retrieve", json={"query": query, **fields})
        assert response.status_code == OK, response.text
        passages: list[dict[str, Any]] = response.json()
        return passages

    def detail(self, status: int, path: str, **fields: Any) -> str:
        """The sentence of a problem with this status."""
        response = self.client.post(path, json=fields)
        assert response.status_code == status, response.text
        detail: str = response.json()["detail"]
        return detail


def new_session() -> str:
    """An id as a browser makes it."""
    return secrets.token_hex(12)


def newest(data_dir: Path, slug: str) -> dict[str, Any]:
    """The manifest of a book's newest generation."""
    manifest = max((data_dir / "books" / slug).glob("*/manifest.json"))
    read: dict[str, Any] = msgspec.json.decode(manifest.read_bytes())
    return read


def chapters(answer: Answer) -> set[str]:
    """Chapters that an answer cites."""
    return {source.chapter for source in answer.sources}


def ends_with(names: Collection[str], name: str) -> bool:
    """Whether one of the file names ends so."""
    return any(known.endswith(name) for known in names)


def out_of_book(kind: str) -> list[str]:
    """Questions of the repository's collection that the books do not answer: `far`, `near`, `vague` and so on."""
    lines = (Path(__file__).parents[2] / "corpus" / "questions" / "out_of_book.jsonl").read_text("utf-8").splitlines()
    return [row["question"] for row in map(msgspec.json.decode, lines) if row["kind"] == kind]
