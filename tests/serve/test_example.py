"""The example for robots asks a real server over HTTP; ROS itself is not needed for that."""

import asyncio
import importlib.util
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace

import httpx
import pytest

from lutrin import messages

from .conftest import House
from .scripted import ANSWER

EXAMPLE = Path(__file__).parents[2] / "examples" / "ros2_ask.py"


@pytest.fixture
def example() -> ModuleType:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("ros2_ask", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def address(client: httpx.AsyncClient) -> str:
    """Address of the server, as an operator writes it."""
    return str(client.base_url).rstrip("/")


async def test_a_robot_gets_the_answer_and_where_it_stands(client: httpx.AsyncClient) -> None:
    """The command prints the answer, its warnings first, and the chapter of each source."""
    command = [sys.executable, str(EXAMPLE), "What is the loop?", "--address", address(client)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True, timeout=60)
    assert ANSWER.answer in done.stdout
    assert done.stdout.startswith(ANSWER.warnings[0] if ANSWER.warnings else ANSWER.answer)
    assert f"[1] {ANSWER.sources[0].chapter}" in done.stdout


async def test_a_refused_question_is_said(client: httpx.AsyncClient, example: ModuleType) -> None:
    """The sentence of the server, not its status."""
    assert await asyncio.to_thread(example.ask, address(client), "") == messages.EMPTY_QUESTION


def test_a_server_that_is_away_is_said(example: ModuleType) -> None:
    """A robot goes on."""
    assert example.ask("http://127.0.0.1:9", "Q", 5.0).startswith("The book cannot be asked")


async def test_the_node_answers_what_it_hears(
    client: httpx.AsyncClient, house: House, example: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message on one topic becomes a question to the server, and its answer a message on the other."""
    topics: dict[str, object] = {}
    published: queue.Queue[str] = queue.Queue()
    ended = threading.Event()
    publisher = SimpleNamespace(publish=lambda message: published.put(message.data))
    node = SimpleNamespace(
        create_publisher=lambda _kind, topic, _depth: topics.setdefault(topic, publisher),
        create_subscription=lambda _kind, topic, heard, _depth: topics.setdefault(topic, heard),
        destroy_node=lambda: None,
    )

    def spin(_: object) -> None:
        topics["/lutrin/question"](SimpleNamespace(data="What is the loop?"))  # type: ignore[operator]  # the callback
        ended.wait(30)

    ros = SimpleNamespace(init=lambda: None, create_node=lambda _: node, spin=spin, try_shutdown=lambda: None)
    monkeypatch.setitem(sys.modules, "rclpy", ros)
    monkeypatch.setitem(sys.modules, "std_msgs", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "std_msgs.msg", SimpleNamespace(String=SimpleNamespace))
    running = asyncio.create_task(asyncio.to_thread(example.run_node, address(client)))
    said = await asyncio.to_thread(published.get, timeout=30)
    ended.set()
    await running
    assert ANSWER.answer in said
    assert house.answers.asked[0].text == "What is the loop?"
