"""A prompt of its own for each kind of question, beside the one that Lutrin uses for all: what each makes of a passage.

    python bench/prompt_kinds.py [--data-dir DIR] [--model FILE] [--limit 60]

The passages are those that Lutrin shows the model for the tuning half of the sample questions. *One for all*: Lutrin's
prompt. *Instruction*: its examples under an instruction for the question's kind. *Examples*: two examples of that kind
under Lutrin's instruction. *Both*: both. Supported is the share of answers with a sentence that the verifier lets
through; own words the share with one of which less than nine tenths stand in the passage in runs of three words; facts
are the key facts in those sentences. `--show` prints every sentence.
"""

import argparse
import asyncio
import statistics
from collections import defaultdict
from pathlib import Path

from common import finish, machine
from prompt_variants import MODEL, OUT, Asked, Writer, facts_told, let_through, passages, prompts, threads_sleep
from serving import ingested

from lutrin.answer.kinds import QuestionKind, kind_of
from lutrin.answer.prompt import SYSTEM
from lutrin.generate.prefix import common_length
from lutrin.records import Message
from lutrin.retrieve.words import words

RUN = 3
COPIED = 0.9
TASK = "Say the main point of the passage in one shorter, simpler sentence."
TASKS: dict[QuestionKind, str] = {
    "definition": "Say in one shorter, simpler sentence what the thing in the passage is.",
    "number": "Say in one shorter, simpler sentence which number the passage gives, and of what.",
    "why": "Say in one shorter, simpler sentence what happens in the passage and why.",
    "compare": "Say in one shorter, simpler sentence how the things in the passage differ.",
    "steps": "Say in one shorter, simpler sentence what is done in the passage, in order.",
    "list": "Say in one shorter, simpler sentence which things the passage lists.",
}
"""Kinds that are not named have Lutrin's."""
_HIVE = "The brood of a hive stays at about 35 °C. On hot days worker bees fan their wings, so that fresh air flows."
_DELTA = "A delta is land that a river builds where it meets the sea. There the water slows down and drops its mud."
_ICE = (
    "Rock at the edges slows down the ice of a glacier. Nothing holds back the middle. Therefore the middle is faster."
)
_SALT = "Salt lowers the temperature at which water freezes. For this reason roads are salted in winter."
_YEAST = "Yeast does not need sunlight, unlike most plants. What it needs is sugar, warmth and water."
_STEEL = "Hard steel keeps its edge for long, but it breaks. Soft steel bends and has to be sharpened often."
_DOUGH = "To make the dough rise: 1. Knead the dough for ten minutes. 2. Cover it with a damp cloth."
_TREE = "To plant a tree: 1. Dig a hole twice as wide as its roots. 2. Set it upright and fill the hole."
_ROCK = "There are two kinds of rock here. Granite comes from magma, and sandstone comes from layers of sand."
EXAMPLES: dict[QuestionKind, dict[str, str]] = {
    "definition": {
        _DELTA: "A delta is land at the sea that a river builds from the mud it drops.",
        _ROCK: "Granite is rock from magma, sandstone is rock from layers of sand.",
    },
    "number": {
        _HIVE: "The brood of a hive stays at about 35 °C.",
        "A marathon is 42.195 km long. Trained runners need between two and four hours for it.": (
            "A marathon is 42.195 km long and takes trained runners two to four hours."
        ),
    },
    "why": {
        _ICE: "The middle of a glacier moves faster, because rock slows down the ice at its edges.",
        _SALT: "Roads are salted in winter, because salt lowers the temperature at which water freezes.",
    },
    "compare": {
        _YEAST: "Yeast needs sugar, warmth and water, but no sunlight.",
        _STEEL: "Hard steel keeps its edge but breaks, while soft steel bends and needs sharpening often.",
    },
    "steps": {
        _DOUGH: "To make the dough rise, knead it for ten minutes and cover it with a damp cloth.",
        _TREE: "To plant a tree, dig a hole twice as wide as its roots, set it upright and fill the hole.",
    },
    "list": {
        _ROCK: "The two kinds of rock are granite from magma and sandstone from layers of sand.",
        _DOUGH: "Kneading and covering make the dough rise.",
    },
}
VARIANTS = ("one for all", "instruction", "examples", "both")


def messages_for(asked: Asked, variant: str) -> tuple[Message, ...]:
    """What the model gets."""
    kind = kind_of(asked.question.question)
    system, *shown, last = asked.messages
    if variant in {"instruction", "both"}:
        system = Message(role="system", content=SYSTEM.replace(TASK, TASKS.get(kind, TASK)))
    if variant in {"examples", "both"} and kind in EXAMPLES:
        shown = [
            message
            for text, short in EXAMPLES[kind].items()
            for message in (Message(role="user", content=f"Passage: {text}"), Message(role="assistant", content=short))
        ]
    return system, *shown, last


def is_own(sentence: str, passage: str) -> bool:
    """Whether a sentence is said otherwise than the passage says it."""
    own, given = ([word.lower() for word in words(text)] for text in (sentence, passage))
    runs = {tuple(given[at : at + RUN]) for at in range(len(given) - RUN + 1)}
    held = {
        place for at in range(len(own) - RUN + 1) if tuple(own[at : at + RUN]) in runs for place in range(at, at + RUN)
    }
    return len(held) < COPIED * len(own)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=OUT)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--show", action="store_true", help="print every sentence that is let through")
    arguments = parser.parse_args()
    threads_sleep()
    if TASK not in SYSTEM:
        raise SystemExit("The prompt of all kinds has changed; change TASK with it.")
    ingested(arguments.data_dir)
    asked = list(
        {passages(item)[0]: item for item in asyncio.run(prompts(arguments.data_dir, arguments.limit))}.values()
    )
    writer = Writer(arguments.model)
    figures: dict[str, dict[str, list[tuple[float, float, float]]]] = defaultdict(lambda: defaultdict(list))
    for variant in VARIANTS:
        before: list[int] = []
        # Those of a kind one after the other: what they share is read once.
        for item in sorted(asked, key=lambda item: kind_of(item.question.question)):
            tokens = list(writer.decoder.encode(messages_for(item, variant)))
            common = common_length(before, tokens)
            token, _ = writer.exact(tokens, common)
            before = tokens
            sentences = let_through(item, writer.text(writer.write(tokens, token)))
            share = facts_told(item, " ".join(sentences))
            own = [sentence for sentence in sentences if is_own(sentence, passages(item)[0])]
            kind = kind_of(item.question.question)
            for row in (kind, "all"):
                figures[row][variant].append((float(bool(sentences)), float(bool(own)), share))
            if arguments.show:
                print(f"{variant} | {kind} | {passages(item)[0]} | {' / '.join(sentences)}")
    print()
    lines = ["| supported / own words / facts | prompts |" + "|".join(f" {name} " for name in VARIANTS) + "|"]
    lines.append("|---|--:|" + "--:|" * len(VARIANTS))
    for row, found in sorted(figures.items(), key=lambda pair: pair[0] == "all"):
        cells = [
            " / ".join(f"{statistics.mean(part):.2f}" for part in zip(*found[name], strict=True)) for name in VARIANTS
        ]
        lines.append(f"| {row} | {len(found[VARIANTS[0]])} | {' | '.join(cells)} |")
    about = machine("llama-cpp-python") | {"model": arguments.model.name}
    finish("A prompt for each kind of question", ["\n".join(lines)], {"prompts": len(asked)}, about)


if __name__ == "__main__":
    main()
