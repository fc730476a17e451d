"""The peer: a plain LlamaIndex pipeline over the same books, questions, embedder and GGUF, judged by the same judge.

    python -m evaluation.peers.llamaindex [--model models/FILE.gguf] [--split test] [--limit N] [--save report.json]
    python -m evaluation.peers.llamaindex --first-token --top-k 4 --limit 6

It is what its documentation's first page builds: files read as text, the default splitter (1,024 tokens, 200 of
overlap), an index in memory, a query engine with the default prompts and the default two passages; the model gets the
chat format it was made for, and picks its likeliest token. It has no rule for refusing: an answer whose first sentence
says in any words that the context holds none counts as a refusal. The figures of retrieval are over its five
nearest passages. With `--first-token` nothing is judged: each question is asked, then asked in other words; the time to
the second one's first token is what a reader waits for whose passages were seen before (`bench/stream.py` has ours).

LlamaIndex lives in an environment of its own, `.venv-bench`, which the first run makes from
requirements/bench-llamaindex.txt (the language model's engine compiles there, about 4 minutes on two cores).
"""

import argparse
import asyncio
import hashlib
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.command_line import (
    CORPUS,
    EMBED_MODEL,
    ROOT,
    add_question_options,
    chosen_questions,
    finish,
    machine,
    spread,
)
from evaluation.report import report, to_json
from evaluation.run import Subject, run
from evaluation.show import kinds_table, table
from lutrin.records import Answer, Chunk, Citation, Passage, Question

HOME = ROOT / ".venv-bench"
REQUIREMENTS = ROOT / "requirements" / "bench-llamaindex.txt"
ANSWER_TOKENS = 256
"""LlamaIndex's default."""
CONTEXT_TOKENS = 8192
DECLINES = re.compile(
    r"^Empty Response$|^I'm sorry\b"
    r"|\b(?:context|text|passage|information|document|book)s?\b.{0,60}\b(?:does|do|did|is|are)(?:n't| not)\b"
    r".{0,40}\b(?:mention|contain|provide|include|specify|state|discuss|cover|address|give|relate|enough|relevant)"
    r"|\b(?:no|not enough|insufficient) (?:specific )?(?:information|mention|context|details?)\b"
    r"|\bnot (?:explicitly |directly |specifically )?"
    r"(?:mentioned|provided|stated|specified|covered|discussed|included|given|available)\b"
    r"|\b(?:I|we) (?:cannot|can't|can not|am unable|are unable|don't know|do not know|don't have|do not have)\b"
    r"|\b(?:unable to (?:answer|provide|determine)|cannot be (?:answered|determined))\b",
    re.IGNORECASE,
)


def enter_environment() -> None:
    """Make `.venv-bench` as the requirement file wants it, then go on in it."""
    python = HOME / "bin" / "python"
    if Path(sys.prefix).resolve() == HOME.resolve():
        return
    stamp = HOME / ".lutrin-bench"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        uv = str(Path(sys.prefix) / "bin" / "uv")
        # Copied: NLTK refuses to read data files that are hard links into a cache.
        install = [uv, "pip", "install", "--quiet", "--link-mode", "copy", "--python", str(python)]
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(HOME)], check=True)
        # Compiled as Lutrin's own: GCC 12 breaks it on processors with AMX.
        build = {"CMAKE_TOOLCHAIN_FILE": str(ROOT / "requirements" / "engine.cmake"), **os.environ}
        subprocess.run([*install, "--require-hashes", "-r", str(REQUIREMENTS)], check=True, env=build)
        subprocess.run([*install, "--no-deps", "-e", str(ROOT)], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    arguments = [str(python), "-m", "evaluation.peers.llamaindex", *sys.argv[1:]]
    os.execv(python, arguments)  # noqa: S606 - our own interpreter, our own arguments


def chat_format(text: str) -> str:
    """One question in the format of the Qwen and SmolLM chat models (ChatML)."""
    system = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    return f"{system}<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


def answer_of(name: str, text: str, sources: Sequence[Citation], seconds: float) -> Answer:
    """A peer's text as an answer; one that declines counts as a refusal."""
    declines = not text or bool(DECLINES.search(re.split(r"(?<=[.!?])\s", text)[0]))
    return Answer(
        answer=text,
        sources=tuple(sources),
        mode="book",
        kind="refusal" if declines else "generated",
        refusal="not_in_book" if declines else None,
        suggestions=(),
        warnings=(),
        model_used=name,
        latency_ms=round(seconds * 1000),
        generation="",
    )


class Peer:
    """LlamaIndex over some books.

    Args:
        corpus: Folder whose folders with a `book.toml` are the books; without any it is a book itself.
        model: GGUF file.
        top_k: Passages in the prompt.
        threads: Of the language model; 0: its own choice.
        kept: Folder that keeps the index, so that another model need not embed the books again; None: nowhere.
    """

    def __init__(
        self, corpus: Path, model: Path, *, top_k: int = 2, threads: int = 0, kept: Path | None = None
    ) -> None:
        from llama_index.core import Settings  # noqa: PLC0415 - only in `.venv-bench`
        from llama_index.llms.llama_cpp import LlamaCPP  # noqa: PLC0415 - only in `.venv-bench`

        Settings.embed_model = embedding()
        options = {"n_threads": threads} if threads else {}
        Settings.llm = LlamaCPP(
            model_path=str(model),
            temperature=0.0,
            max_new_tokens=ANSWER_TOKENS,
            context_window=CONTEXT_TOKENS,
            model_kwargs=options,
            completion_to_prompt=chat_format,
            messages_to_prompt=lambda messages: chat_format("\n".join(str(item.content) for item in messages)),
            verbose=False,
        )
        self.name = f"LlamaIndex, {model.stem}"
        self.first_tokens_s: list[float] = []
        index = open_index(corpus, kept)
        self._engine = index.as_query_engine(similarity_top_k=top_k, streaming=True)
        self._retriever = index.as_retriever(similarity_top_k=5)
        self._previous: dict[str, str] = {}

    async def retrieve(self, question: Question) -> Sequence[Passage]:
        """The five nearest passages."""
        found = self._retriever.retrieve(question.text)
        return [Passage(chunk=self._chunk(node), score=max(0.0, float(node.score or 0.0))) for node in found]

    async def answer(self, question: Question) -> Answer:
        """Answer with the query engine; the first question of a conversation is only remembered, not answered."""
        text = question.text
        if question.session_id and question.session_id not in self._previous:
            self._previous[question.session_id] = text
            return self._answer("", [], 0.0)
        text = f"{self._previous.get(question.session_id, '')} {text}".strip()
        start = time.perf_counter()
        response = self._engine.query(text)
        pieces: list[str] = []
        for piece in response.response_gen or ["Empty Response"]:
            if not pieces:
                self.first_tokens_s.append(time.perf_counter() - start)
            pieces.append(piece)
        return self._answer("".join(pieces).strip(), response.source_nodes, time.perf_counter() - start)

    def first_token(self, text: str) -> float:
        """Seconds from the question to the first token; the rest is not generated."""
        start = time.perf_counter()
        pieces = self._engine.query(text).response_gen
        next(pieces, "")
        seconds = time.perf_counter() - start
        pieces.close()
        return seconds

    def _answer(self, text: str, nodes: Sequence[Any], seconds: float) -> Answer:
        sources = [self._citation(number, node) for number, node in enumerate(nodes, start=1)]
        return answer_of(self.name, text, sources, seconds)

    def _chunk(self, node: Any) -> Chunk:  # noqa: ANN401 - a node of LlamaIndex, which is unknown outside `.venv-bench`
        book, _, filename = node.metadata["file_path"].partition("/")
        return Chunk(
            chunk_id=node.node_id,
            text=node.get_content(),
            book=book,
            book_title=book,
            edition="",
            module="",
            chapter="",
            section="",
            section_title="",
            heading_path=(),
            filename=filename,
            page=None,
            page_label="",
            anchor="",
            chunk_index=0,
            char_start=0,
            char_end=0,
            token_count=0,
            content_type="text",
            is_simulation=None,
            content_hash="",
            units=(),
        )

    def _citation(self, number: int, node: Any) -> Citation:  # noqa: ANN401 - a node of LlamaIndex, which is unknown outside `.venv-bench`
        book, _, filename = node.metadata["file_path"].partition("/")
        return Citation(
            n=number,
            chunk_id=node.node_id,
            book=book,
            chapter="",
            section="",
            section_title="",
            filename=filename,
            page=None,
            url="",
            quote="",
            relevance_score=max(0.0, float(node.score or 0.0)),
        )


def open_index(corpus: Path, kept: Path | None) -> Any:  # noqa: ANN401 - a class of LlamaIndex
    """An index of the books: the kept one, or a new one, which is kept."""
    from llama_index.core import (  # noqa: PLC0415 - only in `.venv-bench`
        Document,
        StorageContext,
        VectorStoreIndex,
        load_index_from_storage,
    )

    if kept is not None and kept.is_dir():
        return load_index_from_storage(StorageContext.from_defaults(persist_dir=str(kept)))
    documents = [Document(text=text, metadata={"file_path": name}) for name, text in read_corpus(corpus)]
    index = VectorStoreIndex.from_documents(documents)
    if kept is not None:
        index.storage_context.persist(persist_dir=str(kept))
    return index


def read_corpus(corpus: Path) -> list[tuple[str, str]]:
    """Path and text of each Markdown file and of each page of a PDF, as LlamaIndex's own readers give them."""
    from pypdf import PdfReader  # noqa: PLC0415 - only in `.venv-bench`

    found = []
    for book in sorted(path.parent for path in corpus.glob("*/book.toml")) or [corpus]:
        for path in sorted(book.rglob("*")):
            name = path.relative_to(book.parent).as_posix()
            if path.suffix in {".md", ".mdx"}:
                found.append((name, path.read_text(encoding="utf-8")))
            elif path.suffix == ".pdf":
                found += [(name, page.extract_text()) for page in PdfReader(path).pages]
    return found


def embedding() -> Any:  # noqa: ANN401 - a class of LlamaIndex made here, for it is not there outside `.venv-bench`
    """Lutrin's embedding model, as fastembed runs it by default."""
    from fastembed import TextEmbedding  # noqa: PLC0415 - only in `.venv-bench`
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415 - only in `.venv-bench`
    from llama_index.core.base.embeddings.base import BaseEmbedding  # noqa: PLC0415 - only in `.venv-bench`

    name = "local/minilm"
    TextEmbedding.add_custom_model(
        model=name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=name),
        dim=384,
        model_file="model.onnx",
    )
    model = TextEmbedding(name, specific_model_path=str(EMBED_MODEL))

    class Embedding(BaseEmbedding):  # type: ignore[misc] # it has no annotations
        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [vector.tolist() for vector in model.embed(texts)]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    return Embedding()


def main() -> None:
    """Ask the peer the sample questions and print its figures."""
    enter_environment()
    parser = argparse.ArgumentParser(description="A plain LlamaIndex pipeline on the sample questions.")
    add_question_options(parser)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the books")
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
    parser.add_argument("--top-k", type=int, default=2, help="passages in the prompt")
    parser.add_argument("--threads", type=int, default=0, help="of the language model; 0: its own choice")
    parser.add_argument("--kept", type=Path, help="folder that keeps the index of the books")
    parser.add_argument("--save", type=Path, help="write the report here, for `lutrin eval --compare`")
    parser.add_argument("--first-token", action="store_true", help="measure the first token of passages seen before")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    questions = chosen_questions(arguments)
    peer = Peer(
        arguments.corpus, arguments.model, top_k=arguments.top_k, threads=arguments.threads, kept=arguments.kept
    )
    about = machine("llama-index-core", "llama-cpp-python", "fastembed")
    if arguments.first_token:
        pairs = [
            (peer.first_token(item.question), peer.first_token(f"Please tell me: {item.question}"))
            for item in questions
            if item.in_book
        ]
        cold, seen = (spread([pair[turn] for pair in pairs])[0] for turn in (0, 1))
        text = f"First token: {cold:.0f} ms, of passages seen before {seen:.0f} ms (medians of {len(pairs)})."
        data: dict[str, object] = {"cold_ms": round(cold), "seen_before_ms": round(seen), "questions": len(pairs)}
        finish(f"Peer: {peer.name}, top {arguments.top_k}, first token", [text], data, about)
        return

    def progress(done: int, total: int) -> None:
        print(f"{done}/{total}", file=sys.stderr, end="\r" if sys.stderr.isatty() else "\n")

    subject = Subject(name=peer.name, retrieve=peer.retrieve, answer=peer.answer)
    outcomes = asyncio.run(run(questions, subject, progress=progress))
    result = report(outcomes, name=peer.name, split=arguments.split)
    if arguments.save:
        arguments.save.write_text(to_json(result), encoding="utf-8")
    first, first_p95 = spread(peer.first_tokens_s)
    tables = [table(result), kinds_table(result), f"First token: median {first:.0f} ms, p95 {first_p95:.0f} ms."]
    data = {
        "split": arguments.split,
        "questions": len(questions),
        "top_k": arguments.top_k,
        "first_token_ms": {"median": round(first, 1), "p95": round(first_p95, 1)},
        "figures": {item.name: round(item.value, 4) for item in result.figures},
    }
    finish(f"Peer: {peer.name}, top {arguments.top_k}", tables, data, about)


if __name__ == "__main__":
    main()
