"""Send requests generated from the schema, and bytes that are not requests at all.

    python bench/chaos_http.py [--cases 10000] [--hostile 500] [--seed 0] [--index FOLDER]

The real server has the first part of the sample book, or a copy of the books of a data folder, and no language model.
Schemathesis generates the cases from `/schema/openapi.json`, half of them valid and half invalid. No reply may be a 5xx
or have a status that the document does not list for its endpoint, none may take over 10 s, and the server must be
healthy afterwards. The last line is JSON.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import requests
import schemathesis
from chaos.bodies import hostile_bodies, hostile_wires
from common import CORPUS, machine
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.schemas import APIOperation

from loadtests import server

BOOK = CORPUS / "physical-ai" / "01-part-1-foundations"
SLOWEST_S = 10.0
EXPECTED = frozenset({200, 202, 204, 304, 400, 403, 404, 405, 409, 413, 415, 422, 429})


@dataclass
class Findings:
    """What came back."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, what: str, status: int, seconds: float, allowed: frozenset[int]) -> None:
        """Count a reply, and remember one that may not be."""
        self.statuses[status] += 1
        if status >= 500 or status not in allowed:
            self.wrong.append(f"{status} for {what}")
        if seconds > SLOWEST_S:
            self.wrong.append(f"{seconds:.1f} s for {what}")


def from_schema(address: str, cases: int, seed_: int) -> Findings:
    """Send generated requests, equally many to each operation with parameters or a body."""
    schema = schemathesis.openapi.from_url(f"{address}/schema/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    found, session = Findings(), requests.Session()
    session.trust_env = False
    lap = 0
    while (left := cases - found.statuses.total()) > 0:
        chosen = [item for item in operations if lap == 0 or takes_something(item)]
        each = max(1, -(-left // (2 * len(chosen))))
        for operation in chosen:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                if mode is GenerationMode.POSITIVE or takes_something(operation):
                    play(operation, mode, each, seed_ + lap, lambda case: sent(case, address, session, found))
        lap += 1
    return found


def takes_something(operation: APIOperation) -> bool:
    """Whether a request of it has a body or parameters."""
    return bool(list(operation.iter_parameters()) or operation.body)


def play(
    operation: APIOperation, mode: GenerationMode, count: int, seed_: int, send: Callable[[schemathesis.Case], None]
) -> None:
    """Generate the requests of one operation and send each."""

    @seed(seed_)
    @settings(
        max_examples=count, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def each(case: schemathesis.Case) -> None:
        send(case)

    with suppress(Unsatisfiable):  # whatever is sent to some operations, the schema allows it
        each()


def sent(case: schemathesis.Case, address: str, session: requests.Session, found: Findings) -> None:
    """Send a request and look at what comes back."""
    responses = case.operation.definition.raw["responses"]
    # A generated value can turn a path into another one, or into none; it is answered as what it then is.
    allowed = frozenset(int(status) for status in responses if status.isdecimal()) | {404, 405, 415}
    start_s = time.monotonic()
    reply = case.call(base_url=address, session=session, timeout=60)
    seconds = time.monotonic() - start_s
    found.note(f"{case.operation.label} {case.body!r:.200}", reply.status_code, seconds, allowed)


def hostile(address: str, count: int, seed_: int) -> Findings:
    """Send malformed JSON bodies to every endpoint that takes one, some of them on a raw socket."""
    found, order = Findings(), random.Random(seed_)  # noqa: S311 - reproducible on purpose
    targets = ["/api/query", "/query", "/query-selection", "/query-selected-text", "/chat", "/api/retrieve",
               "/v1/chat/completions", "/messages/" + "0" * 32 + "/feedback", "/ingest"]  # fmt: skip
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        for number, (body, media_type) in enumerate(hostile_bodies(order, count)):
            path = targets[number % len(targets)]
            start_s = time.monotonic()
            reply = client.post(path, content=body, headers={"Content-Type": media_type})
            found.note(f"POST {path} {body[:80]!r}", reply.status_code, time.monotonic() - start_s, EXPECTED)
    port = int(address.rpartition(":")[2])
    for wire, status in hostile_wires(order, port, count // 10):
        found.note(f"raw {wire[:80]!r}", status, 0.0, EXPECTED | {0, 408, 431})
    return found


def trials(address: str, arguments: argparse.Namespace) -> Iterator[tuple[str, Findings]]:
    """Each kind of request, with what came of it."""
    yield "schema", from_schema(address, arguments.cases, arguments.seed)
    yield "hostile", hostile(address, arguments.hostile, arguments.seed)


def main() -> int:
    """Send everything; 1 if a reply was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--hostile", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--index", type=Path, help="a data folder whose books are served")
    arguments = parser.parse_args()
    report: dict[str, object] = {"benchmark": "chaos_http", "machine": machine("schemathesis", "litestar", "uvicorn")}
    failed = False
    with tempfile.TemporaryDirectory(prefix="lutrin-chaos-") as folder:
        place = Path(folder)
        environment = server.settings(place / "data", "none") | {"LUTRIN_LOG_LEVEL": "warning"}
        if arguments.index is None:
            server.ingest(BOOK, environment)
        else:
            shutil.copytree(arguments.index, place / "data")
        with server.serving(environment, place / "server.log") as address:
            for name, found in trials(address, arguments):
                failed |= bool(found.wrong)
                statuses = dict(sorted(found.statuses.items()))
                print(f"{name:8} {found.statuses.total():6} requests  {statuses}", flush=True)
                print("".join(f"  WRONG: {line}\n" for line in found.wrong[:20]), end="")
                report[name] = {"requests": found.statuses.total(), "statuses": statuses, "wrong": len(found.wrong)}
            well = httpx.get(f"{address}/ready", timeout=10, trust_env=False).status_code == httpx.codes.OK
        log = (place / "server.log").read_text(encoding="utf-8")
        unexpected = log.count('"event": "unexpected"') + log.count("Traceback")
    report |= {"well": well, "unexpected_in_log": unexpected}
    print(json.dumps(report))
    return int(failed or not well or unexpected > 0)


if __name__ == "__main__":
    sys.exit(main())
