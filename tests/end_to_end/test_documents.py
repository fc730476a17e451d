"""The requests in the documents are sent, word for word, to a running server."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.test_pages import typed

from .conftest import ROOT
from .processes import Server

pytestmark = [
    pytest.mark.model,
    pytest.mark.gguf,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]

HERE = "http://127.0.0.1:7860"
PAGES = ("README.md", "docs/integrating.md", "docs/operating.md", "docs/teacher.md")


def requests() -> Iterator[list[str]]:
    """Every `curl` command of the pages."""
    for page in PAGES:
        for words in typed((ROOT / page).read_text("utf-8")):
            if words[0] == "curl" and any(word.startswith(HERE) for word in words):
                yield words


@pytest.mark.parametrize("words", list(requests()), ids=" ".join)
def test_a_request_of_the_documents_is_answered(server: Server, tmp_path: Path, words: list[str]) -> None:
    """With 200; what needs the administrator's token is refused by a server that has none."""
    (tmp_path / "course.zip").write_bytes(b"")
    sent = [word.replace(HERE, str(server.client.base_url).rstrip("/")) for word in words]
    sent += ["--output", str(tmp_path / "reply"), "--write-out", "%{http_code}", "--max-time", "30"]
    done = subprocess.run(sent, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    wanted = "403" if any("LUTRIN_ADMIN_TOKEN" in word for word in words) else "200"
    assert (done.returncode, done.stdout) == (0, wanted), (tmp_path / "reply").read_text("utf-8")
    assert (tmp_path / "reply").stat().st_size > 0


def test_the_documents_have_requests() -> None:
    """The test above has requests to send: an answer, a stream, a chat of OpenAI's, books."""
    assert len(list(requests())) >= 5
