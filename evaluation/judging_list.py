"""Write `models/judging.jsonl`, with which `lutrin models tune --frames` measures how well a model judges.

Run `python -m evaluation.judging_list` when the sample book or its claims have changed. It takes 40 true claims and
their false twins on the sample book, of as many kinds as there are, each with the evidence as a judge reads it.
"""

from itertools import groupby, zip_longest

import msgspec

from evaluation.claims import CLAIMS, ROOT, Claim, folder_of, passages_of, read_claims
from lutrin.answer.verify import evidence_for
from lutrin.runtime.judging import Judged

TWINS = 40
BOOK = "physical-ai"


def chosen(claims: list[Claim]) -> list[tuple[Claim, Claim]]:
    """True claims with their false twins, kinds of the false ones in turn."""
    twins: dict[str, dict[bool, Claim]] = {}
    for claim in claims:
        twins.setdefault(claim.pair, {})[claim.label] = claim
    whole = sorted(
        ((pair[True], pair[False]) for pair in twins.values() if len(pair) == len((True, False))),
        key=lambda pair: (pair[1].kind, pair[1].pair),
    )
    by_kind = [list(group) for _, group in groupby(whole, key=lambda pair: pair[1].kind)]
    in_turn = [pair for row in zip_longest(*by_kind) for pair in row if pair is not None]
    return in_turn[:TWINS]


def main() -> None:
    """Write the list."""
    lines = []
    for pair in chosen(read_claims([CLAIMS / f"{BOOK}.jsonl"])):
        for claim in pair:
            evidence = evidence_for(passages_of(claim, folder_of(claim.book, ROOT)), claim.claim)
            lines.append(msgspec.json.encode(Judged(claim=claim.claim, evidence=evidence, label=claim.label)))
    (ROOT / "models" / "judging.jsonl").write_bytes(b"\n".join(lines) + b"\n")


if __name__ == "__main__":
    main()
