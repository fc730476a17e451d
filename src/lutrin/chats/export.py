"""Export a conversation for its reader: as Markdown to read, or as JSON to process."""

from collections.abc import Sequence

import msgspec

from lutrin.records import ChatMessage, ChatSession

SPEAKERS = {"user": "Reader", "assistant": "Book"}


def as_markdown(session: ChatSession, messages: Sequence[ChatMessage]) -> str:
    """Return the conversation with its sources, a heading for each message."""
    parts = [
        f"# {session.title or 'Conversation'}\n",
        f"{session.created[:16].replace('T', ' ')} UTC, {session.book}\n",
    ]
    for message in messages:
        parts.append(f"## {SPEAKERS[message.role]}, {message.created[:16].replace('T', ' ')}\n")
        if message.selected_text:
            parts.append("".join(f"> {line}\n" for line in message.selected_text.splitlines()))
        parts.append(message.text + "\n")
        parts.extend(
            f"- [{citation.n}] {citation.chapter}, {citation.section_title}: “{citation.quote}”"
            for citation in message.citations
        )
        if message.citations:
            parts.append("")
    return "\n".join(parts)


def as_json(session: ChatSession, messages: Sequence[ChatMessage]) -> bytes:
    """Return `{"session": ..., "messages": [...]}`, indented."""
    return msgspec.json.format(msgspec.json.encode({"session": session, "messages": messages}), indent=2)
