"""Measure how far the language model of the settings can be trusted here: `lutrin models tune --frames`.

The manifest comes with a list of true and false sentences and their evidence. The model is asked whether the evidence
states each sentence. The threshold is set so that no false sentence passes; the share of true ones that pass, and the
seconds that readers wait, follow from the measurement. Both are stored for this machine.
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
"""Name of each row of the table -> frame of question."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the list, with its evidence."""

    claim: str
    evidence: str
    label: bool
    """Whether the evidence states it."""


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """A model's measured reliability as a judge."""

    model: str
    """Name and file of the model, as the model reports them."""
    threshold: float
    """Probability of a yes from which a sentence counts as stated."""
    true_kept: float
    """Share of the list's true sentences that reach the threshold; no false one does."""
    seconds: float
    """Median seconds for a sentence."""


def read_list(models_dir: Path) -> list[Judged]:
    """Read the sentences that come with the manifest.

    Raises:
        ModelMissing: The list is missing.
    """
    path = next((folder / LIST for folder in (models_dir, SHIPPED) if (folder / LIST).is_file()), None)
    if path is None:
        raise ModelMissing(
            f"There is no {models_dir / LIST}.", remedy="Run the command in Lutrin's folder or set LUTRIN_MODELS_DIR."
        )
    decoder = msgspec.json.Decoder(Judged)
    return [decoder.decode(line) for line in path.read_bytes().splitlines()]


def trust_of(model: str, labels: Sequence[bool], said: Sequence[float], seconds: Sequence[float]) -> Trust:
    """Find the threshold that no false sentence reached.

    Args:
        model: Identity of the model.
        labels: Whether each sentence is true.
        said: The probability of the model's yes for each.
        seconds: The time that each took.
    """
    chances, true = np.asarray(said), np.asarray(labels, dtype=bool)
    threshold = float(np.nextafter(np.float32(chances[~true].max(initial=0.0)), np.float32(np.inf)))
    kept = float((chances[true] >= threshold).mean()) if true.any() else 0.0
    return Trust(model=model, threshold=threshold, true_kept=kept, seconds=float(np.median(seconds)))


async def measured(
    generator: "Generator", identity: str, items: Sequence[Judged], note: Callable[[str], None]
) -> Trust:
    """Have a model judge each sentence, one after another, as it does for a reader's answer.

    Args:
        generator: The started model.
        identity: Identity of its file.
        items: From `read_list`.
        note: Called with the progress.

    Raises:
        GeneratorUnavailable: The model stopped.
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
    """Store a measurement beside those of other models."""
    data_dir.mkdir(parents=True, exist_ok=True)
    known = {one.model: one for one in _known(data_dir)} | {trust.model: trust}
    fresh = data_dir / f"{KEPT}.new"
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(list(known.values())), indent=2))
    fresh.replace(data_dir / KEPT)


def recalled(identity: str, data_dir: Path) -> Trust | None:
    """Return a model's stored measurement on this machine; None if there is none."""
    return next((one for one in _known(data_dir) if one.model == identity), None)


def _known(data_dir: Path) -> list[Trust]:
    try:
        return msgspec.json.decode((data_dir / KEPT).read_bytes(), type=list[Trust])
    except (OSError, msgspec.DecodeError):
        return []


def describe(trust: Trust, ability: Ability) -> list[tuple[str, str]]:
    """Describe what readers will get, as rows of a table.

    Args:
        trust: The model's measurement.
        ability: What models of its tier are asked while readers wait.
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
