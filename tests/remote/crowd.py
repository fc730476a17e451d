"""Readers who ask without a pause while a test takes something away from under them.

Nothing here waits for a time that a slow machine might need longer for: the test goes on when the readers have seen
what they are to see.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx
from tests.end_to_end import books
from tests.end_to_end.processes import wait_until

from lutrin import messages

FRIENDLY_DOWN = messages.KNOWLEDGE_BASE_DOWN
FRIENDLY = {FRIENDLY_DOWN, messages.SOMETHING_WRONG}
SECRET = {"X-Lutrin-Client": "a-browser-secret-of-this-test"}
READERS = 3
A_SESSION = 8
"""Questions in it: fewer than a session may ask in a minute."""
PAUSE_S = 0.1
LONGEST_S = 120.0
AWAY_S = 2.0
"""For which something is away at least."""


def ask(client: httpx.Client, question: str, session: str) -> httpx.Response:
    """One question in a conversation."""
    return client.post("/chat", json={"message": question, "session_id": session}, headers=SECRET)


@dataclass(frozen=True)
class Reply:
    """A reader's reply."""

    reader: int
    session: str
    question: str
    began_s: float
    response: httpx.Response

    @property
    def is_answered(self) -> bool:
        """Whether it is an answer."""
        return self.response.status_code == 200

    @property
    def is_stored(self) -> bool:
        """Whether it is an answer of which the reader was not told that it could not be saved."""
        return self.is_answered and "could not be saved" not in str(self.response.json()["warnings"])


class Crowd:
    """Readers, as long as the block runs.

    Args:
        clients: Of the servers, or of the proxy before them; each reader asks one after the other.
        name: Begins the ids of the conversations.
    """

    def __init__(self, clients: Sequence[httpx.Client], name: str) -> None:
        self.replies: list[Reply] = []
        self._clients = clients
        self._name = name
        self._stop = threading.Event()
        self._failures: list[Exception] = []
        self._threads = [threading.Thread(target=self._read, args=(reader,)) for reader in range(READERS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        assert self._failures == []

    def wait_for_answers(self) -> None:
        """Until each reader has had three answers in a row to questions asked from now on."""
        began_s = time.monotonic()

        def well() -> bool:
            last = [[reply for reply in self._since(began_s) if reply.reader == n][-3:] for n in range(READERS)]
            return all(len(three) == 3 and all(reply.is_answered for reply in three) for three in last)

        wait_until(well, LONGEST_S, "every reader is answered")

    def wait_for_replies(self) -> None:
        """For a while at least, and until each reader has had a reply, of whichever kind, to a question asked in it."""
        began_s = time.monotonic()
        wait_until(
            lambda: (
                time.monotonic() > began_s + AWAY_S
                and {reply.reader for reply in self._since(began_s)} == set(range(READERS))
            ),
            LONGEST_S,
            "every reader gets a reply",
        )

    def check_friendly(self) -> None:
        """Every reply is an answer, or a 503 with a sentence that is fit for readers."""
        for reply in self.replies:
            assert reply.response.status_code in {200, 503}, reply.response.text
            assert reply.is_answered or reply.response.json()["detail"] in FRIENDLY, reply.response.text

    def check_nothing_lost(self, client: httpx.Client) -> None:
        """Every answer is in its conversation with its question, unless the reader got a notice."""
        kept: dict[str, list[Reply]] = defaultdict(list)
        for reply in self.replies:
            if reply.is_stored:
                kept[reply.session].append(reply)
        assert kept
        for session, replies in kept.items():
            messages = client.get(f"/history/{session}", headers=SECRET).json()["messages"]
            stored = [message["text"] for message in messages]
            assert {reply.question for reply in replies} <= set(stored), session
            assert {reply.response.json()["answer"] for reply in replies} <= set(stored), session

    def _since(self, began_s: float) -> list[Reply]:
        return [reply for reply in list(self.replies) if reply.began_s >= began_s]

    def _read(self, reader: int) -> None:
        number = 0
        try:
            while not self._stop.is_set():
                session, question = f"{self._name}-{reader}-{number // A_SESSION}", f"{books.QUESTION} {number}"
                began_s = time.monotonic()
                response = ask(self._clients[(reader + number) % len(self._clients)], question, session)
                self.replies.append(Reply(reader, session, question, began_s, response))
                number += 1
                time.sleep(PAUSE_S)
        except Exception as error:  # noqa: BLE001 - told to the test, which is in another thread
            self._failures.append(error)
