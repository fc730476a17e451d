"""Checks of a careful reader: the events of a stream, and the quoted words behind each citation."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import msgspec

from lutrin.records import Answer, Citation, Excerpt

MARKER = re.compile(r"\[(\d+)\]")
STREAM = {"Accept": "text/event-stream"}


@dataclass(frozen=True)
class Event:
    """One Server-Sent Event."""

    id: str
    name: str
    data: dict[str, Any]

    def answer(self) -> Answer:
        """The Answer that an `answer` or a `done` carries."""
        assert self.name in {"answer", "done"}, self
        return msgspec.convert(self.data, Answer)


def events(response: httpx.Response) -> Iterator[Event]:
    """Events as they arrive; comments are passed over."""
    assert response.status_code == httpx.codes.OK
    assert response.headers["content-type"].startswith("text/event-stream")
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield Event(fields["id"], fields["event"], msgspec.json.decode(fields["data"]))
            fields = {}


def check_order(seen: list[Event]) -> Answer:
    """Sources come first, then excerpts, the book's answer, what was generated, and `done` last; nothing is told twice.

    A model that is fast enough to speak first has its sentences before the answer that they are part of.

    Returns:
        The answer that ends the stream.
    """
    names = [event.name for event in seen if event.name not in {"queued", "working"}]
    rank = {"sources": 0, "excerpt": 1, "answer": 2, "sentence": 3, "done": 4}
    speaks_first = {"sources": 0, "excerpt": 1, "sentence": 2, "answer": 3, "done": 4}
    orders = [[order[name] for name in names] for order in (rank, speaks_first)]
    assert any(order == sorted(order) for order in orders), names
    assert (names.count("sources"), names.count("done")) == (1, 1)
    assert names.count("excerpt") >= 1
    streams, numbers = zip(*(event.id.split(".") for event in seen), strict=True)
    assert len(set(streams)) == 1
    assert [int(number) for number in numbers] == list(range(1, len(seen) + 1))
    answer = seen[-1].answer()
    sent = [msgspec.convert(event.data, Excerpt) for event in seen if event.name == "excerpt"]
    assert {item.text for item in sent} == {item.text for item in answer.excerpts}
    return answer


def check_sources(answer: Answer, folders: Mapping[str, Path], selected_text: str = "") -> None:
    """Every quote and excerpt is in its file letter for letter; what is cited is a source, and nothing else is.

    Args:
        answer: Not a refusal.
        folders: The folder of each book, by slug.
        selected_text: The reader's selection; words of it that are not the book's have neither file nor address.
    """
    places: dict[int, str] = {}
    for source in answer.sources:
        assert source.quote
        assert 0 < source.relevance_score <= 1
        assert bool(source.filename) is bool(source.url)
        place = (folders[source.book] / source.filename).read_text("utf-8") if source.filename else selected_text
        assert source.quote in place
        places[source.n] = place
    for excerpt in answer.excerpts:
        assert excerpt.text in places[excerpt.n]
        edges = [edge for mark in excerpt.marks for edge in mark]
        assert edges == sorted(edges)
        assert 0 <= edges[0] < edges[-1] <= len(excerpt.text)
    markers = {int(number) for number in MARKER.findall(answer.answer)}
    assert markers
    assert markers | {excerpt.n for excerpt in answer.excerpts} == set(places)


def check_landing(client: httpx.Client, source: Citation) -> None:
    """The citation's address is a page of this server, and the heading that it names is on the page."""
    path, _, fragment = source.url.partition("#")
    page = client.get(path)
    assert page.status_code == httpx.codes.OK, source.url
    assert page.headers["content-type"].startswith("text/html")
    if fragment:
        assert f'id="{unquote(fragment)}"' in page.text, source.url
