"""The book as tools of the Model Context Protocol, through the protocol's own client."""

import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from .conftest import FOUNDATIONS_SLUG, Library, Lutrin
from .processes import LUTRIN, environment

QUESTION = "What is the sensorimotor loop?"

pytestmark = pytest.mark.model


@pytest.fixture
async def agent(library: Library, models_dir: Path, empty_folder: Path) -> AsyncIterator[Client]:
    """A client that has started `lutrin mcp` on two books, without a language model."""
    server = StdioServerParameters(
        command=str(LUTRIN),
        args=["mcp"],
        env=environment(models_dir, library.data_dir, LUTRIN_MODEL="none"),
        cwd=empty_folder,
    )
    async with Client(stdio_client(server)) as client:
        yield client


async def test_an_agent_reads_the_manual(agent: Client) -> None:
    """Both tools are offered, described and marked as reading only; they find, answer, refuse and explain mistakes."""
    tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert set(tools) == {"search_book", "ask_book"}
    for tool in tools.values():
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.input_schema["required"] == ["question"]

    found = await agent.call_tool("search_book", {"question": QUESTION, "book": FOUNDATIONS_SLUG, "top_k": 3})
    assert not found.is_error
    assert found.structured_content is not None
    passages = found.structured_content["result"]
    assert 1 <= len(passages) <= 3
    assert any("sensorimotor" in passage["metadata"]["filename"] for passage in passages)
    assert {"id", "section", "chapter", "page", "filename"} <= passages[0]["metadata"].keys()

    asked = await agent.call_tool("ask_book", {"question": QUESTION, "book": FOUNDATIONS_SLUG})
    answer = asked.structured_content
    assert answer is not None
    assert answer["kind"] == "extractive"
    assert "[1]" in answer["answer"]
    assert answer["sources"][0]["filename"].endswith((".md", ".mdx"))

    refused = (
        await agent.call_tool("ask_book", {"question": "Who won the football match last night?"})
    ).structured_content
    assert refused is not None
    assert refused["kind"] == "refusal"
    empty = await agent.call_tool("search_book", {"question": "Who won the football match last night?"})
    assert empty.structured_content == {"result": []}

    for arguments in ({"question": " "}, {"question": QUESTION, "book": "no-such-book"}):
        wrong = await agent.call_tool("ask_book", arguments)
        assert wrong.is_error
        assert "Traceback" not in str(wrong.content)


def test_without_the_package_the_command_says_what_to_install(lutrin: Lutrin, tmp_path: Path) -> None:
    """One sentence with the command that brings it into this very environment, exit code 1."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n", encoding="utf-8")
    done = lutrin("mcp", PYTHONPATH=str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert "mcp is not installed" in done.err
    assert re.search(rf"Run `(?:{re.escape(sys.executable)} -m|uv) pip install .*mcp`\.", done.err)
    assert "Traceback" not in done.err
