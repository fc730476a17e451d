"""A real server on a loopback port, with real conversations, in front of scripted stages."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tests.fakes import WordHashEmbedder
from tests.loopback import NO_TLS

from lutrin.chats.key import new_key
from lutrin.chats.store import SqlChatStore
from lutrin.index.shelf import Shelf
from lutrin.records import LeftOut, ModelState
from lutrin.serve.app import create_app, with_guards
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.render_process import Renderer
from lutrin.serve.services import Answers, Ingest, Services
from lutrin.settings import load_settings
from lutrin.study.desk import CompanionDesk

from .scripted import Clock, ScriptedAnswers, ScriptedLibrary, ScriptedRetrieval


@dataclass
class House:
    """The services behind a test's server."""

    data_dir: Path
    chats: SqlChatStore
    answers: ScriptedAnswers = field(default_factory=ScriptedAnswers)
    flow: Answers | None = None
    """In the place of the scripted answers."""
    retrieve: ScriptedRetrieval = field(default_factory=ScriptedRetrieval)
    library: ScriptedLibrary = field(default_factory=ScriptedLibrary)
    real_library: ShelfLibrary | None = None
    """In the place of the scripted one."""
    clock: Clock = field(default_factory=Clock)
    shelf: Shelf | None = None
    """Opened books whose companions the teacher works on."""
    ingest: Ingest | None = None
    echo: Callable[[str], None] | None = None
    trouble: str = ""
    left_out: Sequence[LeftOut] = ()
    renderer: Renderer = field(default_factory=Renderer)
    heartbeat_s: float = 10.0
    model_state: ModelState = field(default_factory=ModelState)

    def services(self) -> Services:
        """As the server takes them."""
        companions = None
        if self.shelf is not None:
            catalog_path = load_settings(data_dir=self.data_dir).catalog_path
            companions = CompanionDesk(self.shelf, catalog_path, WordHashEmbedder())
        return Services(
            answers=self.flow or self.answers,
            retrieve=self.retrieve,
            chats=self.chats,
            library=self.real_library or self.library,
            companions=companions,
            ingest=self.ingest,
            clock=self.clock,
            echo=self.echo,
            trouble=self.trouble,
            left_out=lambda: self.left_out,
            renderer=self.renderer,
            model_state=lambda: self.model_state,
        )


class LastingRenderer(Renderer):
    """Its processes outlive the servers, which start one after the other."""

    def close(self) -> None:
        """Leave them to the next server."""


@pytest.fixture(scope="session")
def renderer() -> Iterator[Renderer]:
    """Renders the pages of all tests."""
    lasting = LastingRenderer()
    yield lasting
    Renderer.close(lasting)


@pytest.fixture
async def house(tmp_path: Path, renderer: Renderer) -> AsyncIterator[House]:
    """Scripted stages and a real, encrypted database."""
    chats = await SqlChatStore.open(tmp_path / "chats.db", new_key())
    yield House(data_dir=tmp_path, chats=chats, renderer=renderer)
    await chats.close()


Serve = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def serve(house: House) -> Serve:
    """The server with settings of the test's own, as a context that gives a client."""

    @asynccontextmanager
    async def serving(**settings: Any) -> AsyncIterator[httpx.AsyncClient]:
        chosen = {"rate_session_per_min": 0, "rate_peer_per_min": 0, "data_dir": house.data_dir, **settings}
        services, values = house.services(), load_settings(**chosen)
        app = create_app(services, values, heartbeat_s=house.heartbeat_s)
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            with_guards(app, services, values),
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            lifespan="on",
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110 - uvicorn offers a flag, no event
            await asyncio.sleep(0.005)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            async with httpx.AsyncClient(base_url=address, timeout=20, verify=NO_TLS) as client:
                yield client
        finally:
            house.answers.go_on.set()
            server.should_exit = True
            await running
            listener.close()

    return serving


@pytest.fixture
async def client(serve: Serve) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server without rate limits."""
    async with serve() as opened:
        yield opened
