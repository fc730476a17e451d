"""How far the language model of the settings can be trusted here: `lutrin models tune --frames`.

A list of true and false sentences beside their evidence comes along with the manifest. From the odds with which the
model calls each of them stated follows the threshold above which it called none of the false ones so, and the share of
true ones that it keeps; from what was measured of its speed, how long readers wait. Both are kept for this machine.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from lutrin.adapters.support_generated import GeneratedSupport
from lutrin.answer.ability import ALL, SELECTION, Ability
from lutrin.errors import GeneratorUnavailable, ModelMissing
from lutrin.keep.weights import SHIPPED

if TYPE_CHECKING:
    from lutrin.ports import Generator

LIST = "judging.jsonl"
KEPT = "judging.json"
PATIENCE_S = 300.0
TOLD_EVERY = 10
FRAMES = (
    ("why and how", "why"), ("plain questions", "plain"), ("comparisons", "compare"), ("simpler words", "simpler"),
    ("marked text", SELECTION),
)  # fmt: skip
"""What the table names, and the frame of each."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the list."""

    claim: str
    evidence: str
    label: bool
    """Whether the evidence states it."""


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """A model's measured reliability as a judge."""

    model: str
    """Name and file, as the model itself tells them."""
    threshold: float
    """From this probability of its yes on a sentence counts as stated."""
    true_kept: float
    """Share of the true sentences of the list that reach it; of the false ones none does."""
    seconds: float
    """A sentence, median."""


def read_list(models_dir: Path) -> list[Judged]:
    """The sentences that come along with the manifest.

    Raises:
        ModelMissing: They are not here.
    """
    path = next((folder / LIST for folder in (models_dir, SHIPPED) if (folder / LIST).is_file()), None)
    if path is None:
        raise ModelMissing(
            f"There is no {models_dir / LIST}.", remedy="Run the command in Lutrin's folder or set LUTRIN_MODELS_DIR."
        )
    decoder = msgspec.json.Decoder(Judged)
    return [decoder.decode(line) for line in path.read_bytes().splitlines()]


def trust_of(model: str, labels: Sequence[bool], said: Sequence[float], seconds: Sequence[float]) -> Trust:
    """The threshold above which no false sentence was called stated.

    Args:
        model: Its identity.
        labels: Whether each sentence is true.
        said: Probability of the model's yes for each.
        seconds: That each took.
    """
    chances, true = np.asarray(said), np.asarray(labels, dtype=bool)
    threshold = float(np.nextafter(np.float32(chances[~true].max(initial=0.0)), np.float32(np.inf)))
    kept = float((chances[true] >= threshold).mean()) if true.any() else 0.0
    return Trust(model=model, threshold=threshold, true_kept=kept, seconds=float(np.median(seconds)))


async def measured(
    generator: "Generator", identity: str, items: Sequence[Judged], note: Callable[[str], None]
) -> Trust:
    """Ask a model of each sentence, one after another as a reader's answer does.

    Args:
        generator: Started.
        identity: Of its file.
        items: From `read_list`.
        note: Told how far it is.

    Raises:
        GeneratorUnavailable: The model went away.
    """
    support = GeneratedSupport(generator, patience_s=PATIENCE_S)
    said, seconds = [], []
    for number, item in enumerate(items, 1):
        began = time.perf_counter()
        said.append(float((await support.probabilities([(item.claim, item.evidence)]))[0]))
        seconds.append(time.perf_counter() - began)
        if not await generator.ready():
            raise GeneratorUnavailable("The model went away.", remedy="Try again on an idle machine.")
        if number % TOLD_EVERY == 0:
            note(f"{number} of {len(items)} sentences")
    return trust_of(identity, [item.label for item in items], said, seconds)


def remember(trust: Trust, data_dir: Path) -> None:
    """Keep what was found, beside what is known of other models."""
    data_dir.mkdir(parents=True, exist_ok=True)
    known = {one.model: one for one in _known(data_dir)} | {trust.model: trust}
    fresh = data_dir / f"{KEPT}.new"
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(list(known.values())), indent=2))
    fresh.replace(data_dir / KEPT)


def recalled(identity: str, data_dir: Path) -> Trust | None:
    """Recall a model's measurement on this machine; None if there is none."""
    return next((one for one in _known(data_dir) if one.model == identity), None)


def _known(data_dir: Path) -> list[Trust]:
    try:
        return msgspec.json.decode((data_dir / KEPT).read_bytes(), type=list[Trust])
    except (OSError, msgspec.DecodeError):
        return []


def told(trust: Trust, ability: Ability) -> list[tuple[str, str]]:
    """What readers will get, in rows of a table.

    Args:
        trust: Of the model.
        ability: What models of its tier are asked at once.
    """
    rows = [
        ("true sentences kept, of the list", f"{trust.true_kept:.2f}"),
        ("false ones kept", "0.00"),
        ("threshold", f"{trust.threshold:.4f}"),
        ("seconds a sentence", f"{trust.seconds:.1f}"),
        ("longest explanation, tokens", str(ability.answer_tokens)),
    ]
    for name, frame in FRAMES:
        at_once = bool(ability.frames & {ALL, frame}) and trust.true_kept > 0
        rows.append((name, "explained at once" if at_once else "the book's own words"))
    return rows
