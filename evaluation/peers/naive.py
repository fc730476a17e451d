"""The peer: whole passages in a plain prompt, the model's answer as it comes, judged by the same judge.

    python -m evaluation.peers.naive [--model models/FILE.gguf] [--split test] [--limit N] [--save report.json]

Passages are the three best of Lutrin's own search, so that what differs is what becomes of them: no sentences are
chosen, nothing is verified, nothing is refused but what the model declines by itself, and there is no deadline.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import llama_cpp

from evaluation.command_line import CORPUS, ROOT, add_question_options, chosen_questions, finish, machine
from evaluation.peers.llamaindex import answer_of
from evaluation.pipeline import complete
from evaluation.report import report, to_json
from evaluation.run import Subject, run
from evaluation.searches import Peers, indexed
from evaluation.show import kinds_table, table
from lutrin.records import Answer, Citation, Passage, Question

PASSAGES = 3
ANSWER_TOKENS = 256
CONTEXT_TOKENS = 8192
SYSTEM = "You are a helpful assistant. Answer the question from the context in a few sentences."


class Naive:
    """The three best passages and the question, in one prompt.

    Args:
        peers: Open books.
        model: GGUF file.
    """

    def __init__(self, peers: Peers, model: Path) -> None:
        self.name = f"naive prompt, {model.stem}"
        self._peers = peers
        self._llm: Any = llama_cpp.Llama(model_path=str(model), n_ctx=CONTEXT_TOKENS, verbose=False)
        # A thread that never embeds: both engines set up a processor's matrix unit (AMX), and llama.cpp does so once.
        self._thread = ThreadPoolExecutor(1)
        self._previous: dict[str, str] = {}

    async def retrieve(self, question: Question) -> Sequence[Passage]:
        """Lutrin's five best passages."""
        chunks = await self._peers.chunks(await self._peers.lutrin(question, question.top_k or 5))
        return [Passage(chunk=chunk, score=1.0) for chunk in chunks]

    async def answer(self, question: Question) -> Answer:
        """Answer with the model; the first question of a conversation is only remembered, not answered."""
        start = time.perf_counter()
        previous = self._previous.pop(question.session_id, None)
        if question.session_id and previous is None:
            self._previous[question.session_id] = question.text
            return self._answer("", [], 0.0)
        asked = question.text if not previous else complete(question.text, previous)
        found = (await self.retrieve(Question(text=asked, selected_text=question.selected_text)))[:PASSAGES]
        context = "\n\n".join(item.chunk.text for item in found)
        selected = f"\n\nSelected text:\n{question.selected_text}" if question.selected_text else ""
        user = f"Context:\n{context}{selected}\n\nQuestion: {asked}"
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": user}]
        ask = partial(self._llm.create_chat_completion, messages=messages, temperature=0.0, max_tokens=ANSWER_TOKENS)
        said = await asyncio.get_running_loop().run_in_executor(self._thread, ask)
        return self._answer(said["choices"][0]["message"]["content"].strip(), found, time.perf_counter() - start)

    def _answer(self, text: str, found: Sequence[Passage], seconds: float) -> Answer:
        sources = [
            Citation(
                n=number,
                chunk_id=item.chunk.chunk_id,
                book=item.chunk.book,
                chapter=item.chunk.chapter,
                section=item.chunk.section,
                section_title=item.chunk.section_title,
                filename=item.chunk.filename,
                page=item.chunk.page,
                url="",
                quote="",
                relevance_score=item.score,
            )
            for number, item in enumerate(found, start=1)
        ]
        return answer_of(self.name, text, sources, seconds)


async def measured(arguments: argparse.Namespace) -> None:
    """Ask the questions and print the figures."""
    questions = chosen_questions(arguments)
    async with indexed(CORPUS, "retrieval", arguments.data_dir) as peers:
        peer = Naive(peers, arguments.model)
        subject = Subject(name=peer.name, retrieve=peer.retrieve, answer=peer.answer)
        outcomes = await run(questions, subject, progress=lambda done, total: print(f"{done}/{total}", file=sys.stderr))
    result = report(outcomes, name=peer.name, split=arguments.split)
    if arguments.save:
        arguments.save.write_text(to_json(result), encoding="utf-8")
    data = {"questions": len(questions), "figures": {item.name: round(item.value, 4) for item in result.figures}}
    finish(f"Peer: {peer.name}", [table(result), kinds_table(result)], data, machine("llama-cpp-python"))


def main() -> None:
    """Ask the peer the sample questions and print its figures."""
    parser = argparse.ArgumentParser(description="A plain prompt over whole passages, on the sample questions.")
    add_question_options(parser)
    parser.add_argument("--data-dir", type=Path, help="search this index instead of building one in bench/out")
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
    parser.add_argument("--save", type=Path, help="write the report here")
    asyncio.run(measured(parser.parse_args()))


if __name__ == "__main__":
    main()
