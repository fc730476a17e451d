"""Chat prompts in the template of a GGUF model. A reader's words never become control tokens.

The template is applied to marks instead of the messages, so the text between the marks is the template's own. Control
tokens are recognised in that text only, never in the messages.
"""

import ctypes
import re
from collections.abc import Sequence

import llama_cpp

from lutrin.records import Message

MARK = "\ue000{}\ue001"
MARKS = re.compile("\ue000(\\d+)\ue001")
CHATML = b"chatml"
THINKING_SWITCH = b"enable_thinking"
"""Present in the template of a model that thinks aloud by default; an empty thought at the beginning prevents that."""
NO_THOUGHT = "<think>\n\n</think>\n\n"
PIECE_BYTES = 256


class Prompts:
    """Tokenizer and chat template of a loaded model."""

    def __init__(self, model: int) -> None:
        self._vocab = llama_cpp.llama_model_get_vocab(model)
        # A model without a template gets ChatML, which most small models were tuned on.
        self._template: bytes = llama_cpp.llama_model_chat_template(model, None) or CHATML
        self._parts: dict[tuple[str, ...], list[str]] = {}
        self._tokens: dict[str, list[int]] = {}

    def encode(self, messages: Sequence[Message], stable_chars: int = 0) -> tuple[list[int], int]:
        """Return the tokens of the whole prompt, up to where the assistant's words begin; see `ports.Decoder`."""
        tokens: list[int] = []
        stable = 0
        if llama_cpp.llama_vocab_get_add_bos(self._vocab):
            tokens.append(llama_cpp.llama_vocab_bos(self._vocab))
        for i, part in enumerate(self._layout(tuple(message.role for message in messages))):
            if i % 2:
                text = messages[int(part)].content
                if stable_chars and int(part) == len(messages) - 1:
                    tokens += self._plain(text[:stable_chars])
                    stable, text = len(tokens), text[stable_chars:]
                tokens += self._plain(text)
            else:
                fixed = self._tokens.get(part)
                if fixed is None:
                    fixed = self._tokens[part] = self.tokenize(part, special=True)
                tokens += fixed[1:] if tokens and fixed[:1] == tokens else fixed
        return tokens, stable

    def _plain(self, text: str) -> list[int]:
        """Return the tokens of a message's text: a control token can neither be typed nor put together from pieces."""
        return [token for token in self.tokenize(text, special=False) if not self.is_control(token)]

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the tokens of a text; if `special`, names of control tokens in it become those tokens."""
        data = text.encode("utf-8", "replace")
        # Every token has at least one byte, except a space that some tokenizers put first.
        room = len(data) + 2
        tokens = (ctypes.c_int32 * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, False, special)  # noqa: FBT003 - the C interface has no names: no BOS
        return list(tokens[: max(0, count)])

    def text(self, token: int) -> bytes:
        """Return the bytes of a token; none for a control token."""
        buffer = ctypes.create_string_buffer(PIECE_BYTES)
        length = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, PIECE_BYTES, 0, False)  # noqa: FBT003 - the C interface has no names: not special
        return buffer.raw[: max(0, length)]

    def is_control(self, token: int) -> bool:
        """Return whether the token is a control token, such as the end of a turn, instead of text."""
        return bool(
            llama_cpp.llama_vocab_is_control(self._vocab, token) or llama_cpp.llama_vocab_is_eog(self._vocab, token)
        )

    def _layout(self, roles: tuple[str, ...]) -> list[str]:
        found = self._parts.get(roles)
        if found is None:
            found = self._parts[roles] = layout(self._template, roles)
        return found


def layout(template: bytes, roles: Sequence[str]) -> list[str]:
    """What a template puts around messages of these roles: its text and the messages' numbers in turn.

    A model that would think aloud is given an empty thought to begin with, as its own template does on request.
    """
    marked = [MARK.format(i) for i in range(len(roles))]
    text = apply_template(template, roles, marked)
    if text is None or any(mark not in text for mark in marked):
        text = apply_template(CHATML, roles, marked) or "\n".join(marked)
    if THINKING_SWITCH in template:
        text += NO_THOUGHT
    return MARKS.split(text)


def apply_template(template: bytes, roles: Sequence[str], contents: Sequence[str]) -> str | None:
    """Format a chat that ends with the beginning of the assistant's turn; None if llama.cpp lacks the template."""
    chat = (llama_cpp.llama_chat_message * len(roles))()
    for entry, role, content in zip(chat, roles, contents, strict=True):
        entry.role, entry.content = role.encode(), content.encode()
    length = 0
    # The first call returns the length, the second one writes.
    for _ in range(2):
        buffer = ctypes.create_string_buffer(length + 1)
        length = llama_cpp.llama_chat_apply_template(template, chat, len(roles), True, buffer, length)  # noqa: FBT003 - the C interface has no names: the assistant's turn is opened
        if length < 0:
            return None
    return buffer.raw[:length].decode("utf-8")
