"""Answer events as Server-Sent Events: `id`, `event` and one JSON object in `data`."""

import re

import msgspec

from lutrin.records import AnswerEvent, DoneEvent, ExcerptEvent

MEDIA_TYPE = "text/event-stream"
HEARTBEAT = b": heartbeat\n\n"
HEARTBEAT_S = 10.0
HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold the stream back
}


def frame(event: AnswerEvent, stream: str, number: int) -> bytes:
    """The bytes of one event, whose number in its stream counts from 1."""
    name = str(event.__struct_config__.tag)
    match event:
        case DoneEvent(answer=carried) | ExcerptEvent(excerpt=carried):  # its fields stand beside the type
            data = f'{{"type":"{name}",'.encode() + msgspec.json.encode(carried).removeprefix(b"{")
        case _:
            data = msgspec.json.encode(event)
    # JSON escapes line breaks, so it is one line.
    return f"id: {stream}.{number}\nevent: {name}\ndata: ".encode() + data + b"\n\n"


def parse_event_id(value: str) -> tuple[str, int] | None:
    """Stream and number of a `Last-Event-ID`; None if it is not one of ours."""
    match = re.fullmatch(r"([0-9a-f]{32})\.([0-9]{1,6})", value.strip())
    return (match[1], int(match[2])) if match else None
