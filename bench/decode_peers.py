"""The peers of bench/decode.py, each a process of its own that answers rounds of simultaneous questions.

    python bench/decode_peers.py locked|xllamacpp|bare MODEL THREADS

A line of JSON comes in for each round, `{"chats": [[{"role", "content"}, ...], ...], "tokens": n}`; all its chats are
asked at once, each by a thread, and a line goes out, `[[first_s, done_s, tokens], ...]`, in seconds from the start.
Nothing of Lutrin is imported here: xllamacpp lives in an environment of its own.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Chat = list[dict[str, str]]
Answer = Callable[[Chat, int, Callable[[str], None]], None]
CONTEXT_TOKENS = 8192
SLOTS = 10


def locked(model: str, threads: int) -> Answer:
    """`llama_cpp.Llama` behind a lock, like a server whose model serves one reader at a time."""
    from llama_cpp import Llama  # noqa: PLC0415 - each peer has its own package

    llama: Any = Llama(model, n_ctx=CONTEXT_TOKENS, n_threads=threads, n_threads_batch=threads, verbose=False)
    lock = threading.Lock()

    def answer(chat: Chat, tokens: int, heard: Callable[[str], None]) -> None:
        with lock:
            for part in llama.create_chat_completion(chat, max_tokens=tokens, temperature=0.0, stream=True):
                heard(part["choices"][0]["delta"].get("content") or "")

    return answer


def xllamacpp(model: str, threads: int) -> Answer:
    """llama.cpp's own server loop with ten slots that share one cache."""
    import xllamacpp as package  # noqa: PLC0415 - each peer has its own package

    params: Any = package.CommonParams()
    params.model.path = model
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = SLOTS
    params.kv_unified = True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.verbosity = 0
    server: Any = package.Server(params)

    def answer(chat: Chat, tokens: int, heard: Callable[[str], None]) -> None:
        def parts(chunk: Any) -> None:  # noqa: ANN401 - one part or a list of them, as the server likes
            for part in chunk if isinstance(chunk, list) else [chunk]:
                for choice in part.get("choices", ()):
                    heard(choice["delta"].get("content") or "")

        request = {"messages": chat, "max_tokens": tokens, "temperature": 0.0, "stream": True}
        server.handle_chat_completions(request, parts)

    return answer


def bare(model: str, threads: int) -> Answer:
    """`llama_decode` in a loop, a token at a time, and nothing around it; the prompt in ChatML, the likeliest token."""
    import llama_cpp  # noqa: PLC0415 - each peer has its own package
    import numpy as np  # noqa: PLC0415 - each peer has its own package

    llama: Any = llama_cpp.Llama(model, n_ctx=CONTEXT_TOKENS, n_threads=threads, n_threads_batch=threads, verbose=False)
    context, size = llama.ctx, llama.n_vocab()
    memory = llama_cpp.llama_get_memory(context)

    def decode(tokens: list[int]) -> int:
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(array, len(tokens)))
        return int(np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), shape=(size,)).argmax())

    def answer(chat: Chat, tokens: int, heard: Callable[[str], None]) -> None:
        text = "".join(f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in chat)
        llama_cpp.llama_memory_clear(memory, True)  # noqa: FBT003 - the C interface has no names: the data, too
        prompt = llama.tokenize(f"{text}<|im_start|>assistant\n".encode(), add_bos=False, special=True)
        for at in range(0, len(prompt), llama.n_batch):
            token = decode(prompt[at : at + llama.n_batch])
        for _ in range(tokens):
            heard(str(token))
            token = decode([token])

    return answer


def timed(answer: Answer, chat: Chat, tokens: int, began: float) -> tuple[float, float, int]:
    """Ask once; return when the first text came, when the last, and how many pieces."""
    times: list[float] = []

    def heard(text: str) -> None:
        if text:
            times.append(time.perf_counter() - began)

    answer(chat, tokens, heard)
    return (times[0], times[-1], len(times)) if times else (0.0, 0.0, 0)


def main() -> None:
    """Answer rounds until the input ends."""
    kind, model, threads = sys.argv[1:]
    answer = {"locked": locked, "xllamacpp": xllamacpp, "bare": bare}[kind](model, int(threads))
    print("[]", flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        chats: list[Chat] = task["chats"]
        with ThreadPoolExecutor(len(chats)) as pool:
            began = time.perf_counter()
            waiting = [pool.submit(timed, answer, chat, task["tokens"], began) for chat in chats]
        print(json.dumps([asked.result() for asked in waiting]), flush=True)


if __name__ == "__main__":
    main()
