"""Models on llama.cpp's low-level interface: several sequences in one unified cache; conversion of files.

A build for several processors (`just engine-wheel`; `GGML_BACKEND_DL` and `GGML_CPU_ALL_VARIANTS` of llama.cpp) has a
file `libggml-cpu-NAME.so` for each kind of processor beside its own library, and llama.cpp takes the best one that runs
here. A build for a single processor has no such files.

Flash attention is on. It skips cells that a token does not attend to, so other answers and retained prompts cost a
reader nearly nothing (docs/decisions/0010).
"""

import ctypes
import math
import os
import re
import shutil
import struct
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path

import llama_cpp
import numpy as np
from llama_cpp import llama_cpp as binding

from lutrin.errors import GeneratorUnavailable, NotEnoughSpace
from lutrin.platform import stand_back_alone
from lutrin.ports import TokenRun, Values
from lutrin.records import Message

PARTS = "libggml-cpu-*.so"
GRAPHICS = (1, 2)
"""`GGML_BACKEND_DEVICE_TYPE_GPU` and `..._IGPU` of ggml-backend.h; the second counts only without the first."""


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]  # ctypes makes it
def quiet(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Drop llama.cpp's log lines, which name files and sizes and sometimes contain prompts."""


@cache
def open_engine() -> str:
    """Initialise llama.cpp once, silence its log, and name its part (`haswell`); empty if it has one part only.

    Raises:
        GeneratorUnavailable: None of the parts runs on this processor.
    """
    llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    library = binding._lib  # noqa: SLF001 - the only way to get the loaded library and those beside it
    folder = Path(library._name).parent  # noqa: SLF001 - ctypes keeps the path there
    parts = sorted(folder.glob(PARTS))
    if not parts:
        return ""
    library.ggml_backend_load_all_from_path(ctypes.c_char_p(os.fsencode(folder)))
    loaded = [part for part in parts if _is_loaded(part)]
    if not loaded:
        names = ", ".join(_kind(part) for part in parts)
        raise GeneratorUnavailable(f"The engine was not built for this processor, only for: {names}.")
    return _kind(loaded[0])


@cache
def graphics_processors() -> tuple[str, ...]:
    """List the graphics processors that this engine uses, such as `CUDA0 (NVIDIA Orin)`.

    Source: ggml-backend.h, whose functions the package does not expose.
    """
    open_engine()
    library = binding._lib  # noqa: SLF001 - the binding offers no other way
    count, get = library.ggml_backend_dev_count, library.ggml_backend_dev_get
    kind, name, description = (getattr(library, f"ggml_backend_dev_{what}") for what in ("type", "name", "description"))
    count.restype, get.restype, get.argtypes = ctypes.c_size_t, ctypes.c_void_p, [ctypes.c_size_t]
    name.restype = description.restype = ctypes.c_char_p
    for function in (kind, name, description):
        function.argtypes = [ctypes.c_void_p]
    devices = [get(number) for number in range(count())]
    groups = [[one for one in devices if kind(one) == wanted] for wanted in GRAPHICS]
    return tuple(
        f"{name(one).decode(errors='replace')} ({description(one).decode(errors='replace')})"
        for one in next(filter(None, groups), [])
    )


def computed_by(gpu_layers: int | None, layers: int | None = None) -> str:
    """Describe what computes a model (`CUDA0 (NVIDIA Orin), 25 of 25 layers`); None: all layers, or unknown."""
    devices = graphics_processors() if gpu_layers != 0 else ()
    if not devices:
        part = open_engine()
        return f"processor ({part})" if part else "processor"
    if layers is None:
        share = "all layers" if gpu_layers is None else f"up to {gpu_layers} layers"
    else:
        share = f"{layers if gpu_layers is None else min(gpu_layers, layers)} of {layers} layers"
    return f"{' and '.join(devices)}, {share}"


def _is_loaded(part: Path) -> bool:
    """Return whether this process has loaded a library (dlopen(3), `RTLD_NOLOAD`)."""
    try:
        ctypes.CDLL(str(part), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def _kind(part: Path) -> str:
    return part.stem.removeprefix("libggml-cpu-")


FORMATS: dict[str, tuple[int, int | None]] = {
    # Format of the layers, and of the vocabulary's matrix unless llama.cpp chooses it (mostly 8 bits).
    "Q4_0": (llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0, None),
    "Q4_0-all": (llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0, llama_cpp.GGML_TYPE_Q4_0),
    "IQ4_NL": (llama_cpp.LLAMA_FTYPE_MOSTLY_IQ4_NL, None),
    "Q8_0": (llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, None),
}
LARGEST_GROWTH = 2.2
"""Most growth of a file with 4 bits per weight."""


def offloads() -> bool:
    """Return whether this build of llama.cpp computes on a GPU, which then gets all layers."""
    open_engine()
    return bool(llama_cpp.llama_supports_gpu_offload())


def quantize(source: Path, target: Path, kind: str, threads: int = 0) -> None:
    """Write `source` in another of `FORMATS`. Weights that are already quantised lose a little more precision.

    Raises:
        NotEnoughSpace: The disk is too full.
        GeneratorUnavailable: llama.cpp cannot convert the file.
    """
    needed = int(source.stat().st_size * (LARGEST_GROWTH if kind == "Q8_0" else 1.2))
    if shutil.disk_usage(target.parent).free < needed:
        raise NotEnoughSpace(
            f"{target.name} needs {needed / 1e6:.0f} MB on the disk.", remedy="Free some space and try again."
        )
    open_engine()
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype, vocabulary = FORMATS[kind]
    if vocabulary is not None:
        params.output_tensor_type = params.token_embedding_type = vocabulary
    params.allow_requantize = True
    params.nthread = threads
    unfinished = target.with_suffix(".part")
    try:
        if llama_cpp.llama_model_quantize(os.fsencode(source), os.fsencode(unfinished), params) != 0:
            raise GeneratorUnavailable(f"{source.name} cannot be converted to {kind}.")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


ROWS = 4
"""Rows that llama.cpp's matrix kernels for x86 and ARM compute in one pass; each remaining row costs a pass."""
PADDING = 2 * ROWS
RETAINED_SEQUENCES = 48
"""Extra sequences, each of which retains a finished prompt for prompts that start alike."""
RESERVED_SEQUENCES = 2
"""The last sequences: for rows that only complete a pass of the kernels, and for states on their way in or out."""
TRIED_STEPS = 2
"""Steps of each size to time at loading."""
LOOK_S = 0.02
"""Seconds between checks whether to give up a quiet step."""
GIVEN_UP = 2
"""Result of `llama_decode` in that case (llama.h)."""
ABORT = llama_cpp.ggml_abort_callback
SLOW_S = 0.5
"""A step this slow, in seconds, is the last one timed at loading."""
TIMED_ROWS = (1, 4, 20, 40)
"""Numbers of rows whose steps are timed at loading: some processors compute forty in the time of ten."""
VERSION = (llama_cpp.LLAMA_STATE_SEQ_VERSION, llama_cpp.__version__)
"""Header of llama.cpp's state format."""
DESCRIPTION_BYTES = 256
KV_TYPES = {"f16": llama_cpp.GGML_TYPE_F16, "q8_0": llama_cpp.GGML_TYPE_Q8_0}


class Batch:
    """A reusable batch."""

    def __init__(self, capacity: int) -> None:
        self._token = np.zeros(capacity, np.int32)
        self._pos = np.zeros(capacity, np.int32)
        self._sequence = np.zeros(capacity, np.int32)
        self._n_seq_id = np.ones(capacity, np.int32)
        self._logits = np.zeros(capacity, np.int8)
        # Each token belongs to one sequence; its list of sequences is the address of one cell of `_sequence`.
        start = self._sequence.ctypes.data
        self._seq_id = np.arange(start, start + 4 * capacity, 4, dtype=np.uintp)
        self.raw = llama_cpp.llama_batch(
            0,
            _pointer(self._token, ctypes.c_int32),
            None,
            _pointer(self._pos, ctypes.c_int32),
            _pointer(self._n_seq_id, ctypes.c_int32),
            _pointer(self._seq_id, ctypes.POINTER(ctypes.c_int32)),
            _pointer(self._logits, ctypes.c_int8),
        )

    def fill(self, runs: Sequence[TokenRun]) -> None:
        """Write the runs into the batch, one after another."""
        at = 0
        for run in runs:
            end = at + len(run.tokens)
            self._token[at:end] = run.tokens
            self._pos[at:end] = np.arange(run.start, run.start + len(run.tokens))
            self._sequence[at:end] = run.sequence
            self._logits[at:end] = 0
            self._logits[end - 1] = run.wanted
            at = end
        self.raw.n_tokens = at


def _pointer(array: "np.ndarray[tuple[int], np.dtype[np.generic]]", kind: type) -> "ctypes._Pointer[ctypes.c_int]":
    return array.ctypes.data_as(ctypes.POINTER(kind))


def load(
    path: Path, n_ctx: int, slots: int, threads: int, *, kv_type: str, flash_attention: bool, step_tokens: int,
    gpu_layers: int | None,
) -> "LlamaDecoder":  # fmt: skip
    """Load a GGUF file; see `generate_llamacpp.open_decoder`."""
    open_engine()
    model_params = llama_cpp.llama_model_default_params()
    # llama.cpp takes -1 as all of them.
    layers = -1 if gpu_layers is None else gpu_layers
    model_params.n_gpu_layers = layers if llama_cpp.llama_supports_gpu_offload() else 0
    model = llama_cpp.llama_model_load_from_file(os.fsencode(path), model_params)
    if not model:
        raise GeneratorUnavailable(f"{path.name} cannot be loaded as a language model.")
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = n_ctx
    params.n_batch = params.n_ubatch = step_tokens
    params.n_seq_max = min(slots + RETAINED_SEQUENCES + RESERVED_SEQUENCES, llama_cpp.llama_max_parallel_sequences())
    params.n_threads = params.n_threads_batch = threads
    params.kv_unified = True
    params.flash_attn_type = (
        llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED if flash_attention else llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
    )
    params.type_k = params.type_v = KV_TYPES[kv_type]
    context = llama_cpp.llama_init_from_model(model, params)
    if not context:
        llama_cpp.llama_model_free(model)
        raise GeneratorUnavailable(f"{path.name} does not run with {n_ctx} tokens of context.")
    # llama.cpp counts the output layer as one more.
    computed = computed_by(gpu_layers, llama_cpp.llama_model_n_layer(model) + 1)
    cache = f"{kv_type}, flash attention {flash_attention}"
    return LlamaDecoder(model, context, step_tokens, threads, computed=computed, cache=cache)


class LlamaDecoder:
    """See `ports.Decoder`; made by `load`."""

    def __init__(self, model: int, context: int, step_tokens: int, threads: int, *, computed: str, cache: str) -> None:
        self.computed_by = computed
        self._threads = threads
        self._model = model
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        vocab = llama_cpp.llama_model_get_vocab(model)
        self._vocab_size: int = llama_cpp.llama_vocab_n_tokens(vocab)
        self._batch = Batch(step_tokens)
        self._logits = np.zeros((0, self._vocab_size), np.float32)
        self._quiet = ThreadPoolExecutor(1, initializer=stand_back_alone)
        self._is_given_up = threading.Event()
        self._abort = ABORT(lambda _: self._is_given_up.is_set())
        llama_cpp.llama_set_abort_callback(context, self._abort, None)
        self._filler: int = llama_cpp.llama_n_seq_max(context) - RESERVED_SEQUENCES
        self._transit = self._filler + 1
        self._prompts = Prompts(model)
        self._texts: dict[int, bytes] = {}
        self.step_seconds: dict[int, float] = {}
        self.sequences = self._filler
        self.context_tokens: int = llama_cpp.llama_n_ctx(context) - PADDING
        self.window_tokens: int = min(self.context_tokens, llama_cpp.llama_model_n_ctx_train(model))
        self.step_tokens = step_tokens - PADDING
        self.shares: bool = not (llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model))
        description = ctypes.create_string_buffer(DESCRIPTION_BYTES)
        llama_cpp.llama_model_desc(model, description, DESCRIPTION_BYTES)
        # A model with a sliding window drops cells that a state would need.
        is_whole = self.shares and not llama_cpp.llama_model_n_swa(model)
        size = llama_cpp.llama_model_size(model)
        kind = (VERSION, description.value.decode(errors="replace"), size, computed, cache)
        self.state_kind = repr(kind) if is_whole else ""
        for rows in TIMED_ROWS:
            # On a slow machine more rows only take longer, and a reader waits for the model meanwhile.
            if rows <= min(self.sequences, self.step_tokens) and max(self.step_seconds.values(), default=0.0) < SLOW_S:
                self.step_seconds[rows] = min(self._step_times(rows))  # the first step of each size is slow

    def _step_times(self, rows: int) -> list[float]:
        times = []
        for place in range(TRIED_STEPS):
            began = time.perf_counter()
            self.step([TokenRun(sequence, place, (0,), wanted=True) for sequence in range(rows)])
            times.append(time.perf_counter() - began)
        for sequence in range(rows):
            self.forget(sequence)
        return times

    def encode(self, messages: Sequence[Message], stable_chars: int = 0) -> tuple[list[int], int]:
        """Return the tokens of a chat prompt in the model's own template, up to where the answer begins."""
        return self._prompts.encode(messages, stable_chars)

    def step(self, runs: Sequence[TokenRun], *, quietly: Callable[[], bool] | None = None) -> list[int | None]:
        """Compute all runs. Decoding is greedy: the token with the largest logit, of equals the lowest id."""
        wanted = sum(run.wanted for run in runs)
        filler = self._fillers(sum(len(run.tokens) for run in runs), wanted)
        self._batch.fill([*runs, *filler])
        code = self._decode() if quietly is None else self._decode_quietly(quietly)
        if filler:
            self.forget(self._filler)
        if code == GIVEN_UP:
            return []
        if code != 0:
            raise GeneratorUnavailable(f"The language model failed at a step (code {code}).")
        if not wanted:
            return [None] * len(runs)
        # The rows of logits are in the order of the batch: (wanted, vocabulary).
        got = llama_cpp.llama_get_logits(self._context)
        self._logits = np.ctypeslib.as_array(got, shape=(wanted, self._vocab_size))
        best = iter(self._logits.argmax(axis=1).tolist())
        return [next(best) if run.wanted else None for run in runs]

    def _decode(self) -> int:
        llama_cpp.llama_set_n_threads(self._context, self._threads, self._threads)
        return int(llama_cpp.llama_decode(self._context, self._batch.raw))

    def _decode_quietly(self, given_up: Callable[[], bool]) -> int:
        """Compute the batch in a thread of the lowest priority, until it is given up.

        With one thread llama.cpp computes in the thread that calls it.
        """
        llama_cpp.llama_set_n_threads(self._context, 1, 1)
        work = self._quiet.submit(llama_cpp.llama_decode, self._context, self._batch.raw)
        try:
            while not work.done():
                if given_up():
                    self._is_given_up.set()
                wait([work], timeout=LOOK_S)
        finally:
            wait([work])
            self._is_given_up.clear()
        return int(work.result())

    def odds(self, output: int, words: tuple[str, str]) -> float:
        """See `ports.Decoder`."""
        logits = self._logits[output]
        first, second = (max(float(logits[token]) for token in self._beginnings(word)) for word in words)
        return first - second

    def logprob(self, output: int) -> float:
        """See `ports.Decoder`."""
        logits = self._logits[output]
        return -math.log(np.exp(logits - logits.max()).sum())

    def _beginnings(self, word: str) -> set[int]:
        return {self._prompts.tokenize(form, special=False)[0] for form in (word, word.capitalize())}

    def _fillers(self, rows: int, wanted: int) -> list[TokenRun]:
        """Return rows that complete a pass of the kernels, if that is cheaper than computing the rest one by one.

        Measured: two or three rows cost as much as four, and one row half of that (docs/decisions/0010).
        """
        outputs = -wanted % ROWS if wanted % ROWS > 1 else 0
        plain = -(rows + outputs) % ROWS if rows > PADDING else 0
        return [TokenRun(self._filler, place, (0,), wanted=place < outputs) for place in range(outputs + plain)]

    def copy(self, source: int, target: int, start: int, end: int) -> None:
        """Let `target` share cells of `source`."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, start, end)

    def values(self, sequence: int, place: int) -> Values | None:
        """See `ports.Decoder`."""
        return values_of(self._state(sequence, place, place + 1)) if self.state_kind else None

    def save(self, sequence: int, end: int) -> bytes:
        """See `ports.Decoder`."""
        return self._state(sequence, 0, end)

    def _state(self, sequence: int, start: int, end: int) -> bytes:
        """Return llama.cpp's state of the tokens of a sequence from `start` to before `end`."""
        self.copy(sequence, self._transit, start, end)
        size = llama_cpp.llama_state_seq_get_size(self._context, self._transit)
        state = (ctypes.c_uint8 * size)()
        written = llama_cpp.llama_state_seq_get_data(self._context, state, size, self._transit)
        self.forget(self._transit)
        return bytes(memoryview(state)[:written])

    def restore(self, state: bytes, sequence: int, start: int, end: int) -> bool:
        """See `ports.Decoder`."""
        data = ctypes.cast(ctypes.c_char_p(state), ctypes.POINTER(ctypes.c_uint8))
        read = llama_cpp.llama_state_seq_set_data(self._context, data, len(state), self._transit)
        fits: bool = read > 0 and llama_cpp.llama_memory_seq_pos_max(self._memory, self._transit) == end - 1
        if fits:
            self.copy(self._transit, sequence, start, end)
        self.forget(self._transit)
        return fits

    def forget(self, sequence: int, start: int = 0) -> None:
        """Drop the tokens of a sequence from `start` on."""
        llama_cpp.llama_memory_seq_rm(self._memory, sequence, start, -1)

    def text(self, token: int) -> bytes:
        """Return the bytes of a token; none for control tokens."""
        text = self._texts.get(token)
        if text is None:
            text = self._texts[token] = self._prompts.text(token)
        return text

    def ends(self, token: int) -> bool:
        """Return whether the token ends the answer, as every control token inside an answer does."""
        return self._prompts.is_control(token)

    def close(self) -> None:
        """Free the context, then the model."""
        self._quiet.shutdown()
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)


def values_of(state: bytes) -> Values | None:
    """Return the values in the state of a single token, (layers, width); None if they are stored in another form.

    Source: `llama_kv_cache::state_write` of llama.cpp. After magic and sequence (4 bytes each) come the number of
    streams and of cells, the cell's position and its sequences; then whether values are transposed and the number of
    layers; then type, row size (8 bytes) and row of each layer's keys, and the same of its values.
    """
    try:
        _, _, streams, cells, _, owners = struct.unpack_from("<6I", state)
        at = struct.calcsize("<6I") + 4 * owners
        transposed, layers = struct.unpack_from("<2I", state, at)
        if (streams, cells, transposed) != (1, 1, 0):
            return None
        rows, at = [], at + 8
        for _ in range(2 * layers):
            kind, size = struct.unpack_from("<iQ", state, at)
            if kind != KV_TYPES["f16"]:
                return None  # of fewer bits they are stored rotated
            rows.append(np.frombuffer(state[at + 12 : at + 12 + size], "<f2").astype(np.float32))
            at += 12 + size
        return np.stack(rows[layers:]) if at == len(state) else None
    except (struct.error, ValueError):
        return None


MARK = "\ue000{}\ue001"
MARKS = re.compile("\ue000(\\d+)\ue001")
CHATML = b"chatml"
THINKING_SWITCH = b"enable_thinking"
"""In the template of a model that thinks aloud by default; an empty thought at the beginning prevents that."""
NO_THOUGHT = "<think>\n\n</think>\n\n"
PIECE_BYTES = 256


class Prompts:
    """Tokenizer and chat template of a loaded model. A reader's words never become control tokens.

    The template is applied to marks instead of the messages, so the text between the marks is the template's own.
    Control tokens are recognised in that text only.
    """

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
        roles = tuple(message.role for message in messages)
        if roles not in self._parts:
            self._parts[roles] = layout(self._template, roles)
        for i, part in enumerate(self._parts[roles]):
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
        """Return the tokens of a message's text: a control token can neither be typed nor assembled from pieces."""
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


def layout(template: bytes, roles: Sequence[str]) -> list[str]:
    """A template's text around messages of these roles: its text and the messages' numbers in turn.

    A model that would think aloud gets an empty thought to begin with, as its own template does on request.
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
