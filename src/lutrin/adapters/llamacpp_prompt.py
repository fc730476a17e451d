"""Chat prompts as a GGUF model's template wants them, without a reader's words ever becoming control tokens.

The template is applied to marks instead of the messages; between the marks stands what the template adds. Only that is
tokenized with control tokens recognised, the messages' text without.
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
"""In the template of a model that thinks aloud unless it is told not to; told so, it begins with an empty thought."""
NO_THOUGHT = "<think>\n\n</think>\n\n"
PIECE_BYTES = 256


class Prompts:
    """Tokenizer and chat template of a loaded model.

    Args:
        model: Pointer to the model.
    """

    def __init__(self, model: int) -> None:
        self._vocab = llama_cpp.llama_model_get_vocab(model)
        # Without a template of its own a model gets ChatML, which most small ones were tuned on.
        self._template: bytes = llama_cpp.llama_model_chat_template(model, None) or CHATML
        self._parts: dict[tuple[str, ...], list[str]] = {}
        self._tokens: dict[str, list[int]] = {}

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Tokens of the whole prompt, up to where the assistant's words begin."""
        tokens: list[int] = []
        if llama_cpp.llama_vocab_get_add_bos(self._vocab):
            tokens.append(llama_cpp.llama_vocab_bos(self._vocab))
        for i, part in enumerate(self._layout(tuple(message.role for message in messages))):
            if i % 2:
                text = messages[int(part)].content
                # A control token can be neither typed nor pieced together.
                tokens += [token for token in self.tokenize(text, special=False) if not self.is_control(token)]
            else:
                fixed = self._tokens.get(part)
                if fixed is None:
                    fixed = self._tokens[part] = self.tokenize(part, special=True)
                tokens += fixed[1:] if tokens and fixed[:1] == tokens else fixed
        return tokens

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Tokens of a text.

        Args:
            text: Anything.
            special: Whether the names of control tokens in it stand for those tokens.
        """
        data = text.encode("utf-8", "replace")
        # A token is at least one byte, but for the space that some tokenizers put first.
        room = len(data) + 2
        tokens = (ctypes.c_int32 * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, False, special)  # noqa: FBT003 - the C interface has no names: no BOS
        return list(tokens[: max(0, count)])

    def text(self, token: int) -> bytes:
        """Bytes of a token; nothing for a control token."""
        buffer = ctypes.create_string_buffer(PIECE_BYTES)
        length = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, PIECE_BYTES, 0, False)  # noqa: FBT003 - the C interface has no names: not special
        return buffer.raw[: max(0, length)]

    def is_control(self, token: int) -> bool:
        """Whether the token is an instruction to the model, such as the end of a turn, and no text."""
        return bool(
            llama_cpp.llama_vocab_is_control(self._vocab, token) or llama_cpp.llama_vocab_is_eog(self._vocab, token)
        )

    def _layout(self, roles: tuple[str, ...]) -> list[str]:
        """What the template puts around messages of these roles: its text and the messages' numbers in turn."""
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
    """Lay out a chat, the assistant's turn opened at its end; None if llama.cpp does not know the template."""
    chat = (llama_cpp.llama_chat_message * len(roles))()
    for entry, role, content in zip(chat, roles, contents, strict=True):
        entry.role, entry.content = role.encode(), content.encode()
    length = 0
    # The first call tells the length, the second one writes.
    for _ in range(2):
        buffer = ctypes.create_string_buffer(length + 1)
        length = llama_cpp.llama_chat_apply_template(template, chat, len(roles), True, buffer, length)  # noqa: FBT003 - the C interface has no names: the assistant's turn is opened
        if length < 0:
            return None
    return buffer.raw[:length].decode("utf-8")
