"""Adds to events and messages of the scripted server what their texts consist of, as Lutrin's own server does.

Reads a line of JSON for each from its standard input, and writes one for each: `{"event": ...}` or `{"message": ...}`,
as they are sent.
"""

import sys
from typing import Any

import msgspec

from lutrin.records import Answer, AnswerEvent, BookAnswerEvent, ChatMessage, Excerpt, ExcerptEvent
from lutrin.serve.text_blocks import event_with_blocks, message_with_blocks


def sent_event(sent: dict[str, Any]) -> dict[str, Any]:
    """An event with its blocks; the fields of an answer and of an excerpt stand beside its type."""
    kind = sent["type"]
    event: AnswerEvent
    match kind:
        case "answer" | "done":
            event = BookAnswerEvent(msgspec.convert(sent, Answer))
        case "excerpt":
            event = ExcerptEvent(msgspec.convert(sent, Excerpt))
        case _:
            event = msgspec.convert(sent, AnswerEvent)
    shown = msgspec.to_builtins(event_with_blocks(event))
    return {**shown.get("answer", shown.get("excerpt", shown)), "type": kind}


def main() -> None:
    """Answer line by line until there are no more."""
    for line in sys.stdin.buffer:
        given = msgspec.json.decode(line)
        shown = (
            sent_event(given["event"])
            if "event" in given
            else message_with_blocks(msgspec.convert(given["message"], ChatMessage))
        )
        sys.stdout.buffer.write(msgspec.json.encode(shown) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
