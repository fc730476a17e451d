"""Generated and hostile requests: some hundreds always, thousands in endurance; `just chaos-http` sends more."""

import pytest
from tests.end_to_end.conftest import Library
from tests.endured import Endured

from .accidents import LONG_S, report_of


@pytest.mark.model
@pytest.mark.slow("hundreds of requests, each checked against the schema, and a server of their own")
@pytest.mark.timeout(LONG_S)
@pytest.mark.parametrize(
    ("cases", "hostile"),
    [pytest.param(100, 75, id="short"), pytest.param(2000, 500, id="long", marks=pytest.mark.endurance)],
)
def test_no_request_upsets_the_server(cases: int, hostile: int, library: Library, endured: Endured) -> None:
    """No 5xx, no status that the schema does not name, nothing unforeseen in the log, and a server that goes on."""
    report = report_of("chaos_http", {"cases": cases, "hostile": hostile, "index": library.data_dir}, LONG_S)
    assert report["schema"]["requests"] >= cases
    assert report["hostile"]["requests"] >= hostile
    assert report["well"]
    endured("chaos_http", {kind: report[kind]["requests"] for kind in ("schema", "hostile")})
