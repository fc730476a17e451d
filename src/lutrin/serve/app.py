"""Assembles the application from routes, guards and shared services, and runs it in a process."""

import asyncio
import errno
import gc
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import uvicorn
from litestar import Litestar
from litestar.config.cors import CORSConfig
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from lutrin.errors import LutrinError
from lutrin.ingest.upload import MAX_FILES, finish_replacements
from lutrin.log import get_logger
from lutrin.platform import give_back, network_addresses
from lutrin.serve import problems
from lutrin.serve.answer_service import ASKED_HEADER, HEARTBEAT_S, MESSAGE_HEADER, AnswerService
from lutrin.serve.book_reader import Reader
from lutrin.serve.budget import Budget, Workshop, budgeting
from lutrin.serve.connections import (
    ACCEPTED_AT_ONCE,
    BACKLOG,
    BoundedProtocol,
    Connections,
    most_connections,
    raise_file_limit,
)
from lutrin.serve.door import Door
from lutrin.serve.guards import RequestGuard, StrictRequest, secure
from lutrin.serve.guest_pages import guest_pages
from lutrin.serve.guest_server import GuestServer
from lutrin.serve.metrics import Metrics
from lutrin.serve.openapi import openapi_config, prepare
from lutrin.serve.ownership import CLIENT_HEADER
from lutrin.serve.probe import Probe
from lutrin.serve.reading_progress import progress_of
from lutrin.serve.responses import below, finishing
from lutrin.serve.routes import answers, health, ingest, openai, pages, sessions
from lutrin.serve.services import Services
from lutrin.serve.teacher_password import TeacherPassword, spaced
from lutrin.serve.teacher_sign_in import SignIns, Visit
from lutrin.serve.watch import watch_folder
from lutrin.settings import Settings

ANSWERS_END_S = 3
"""Seconds for running answers after a signal."""
SHUTDOWN_S = 5
"""Seconds after which open connections are cut."""
IDLE_S = 130
"""How long an idle connection stays open: longer than at proxies (Caddy: two minutes), so that the other side closes
it. A question sent on a connection that the server is closing would be lost."""
SWITCH_S = 0.0005
"""How long a thread may keep the interpreter while others wait for it. A search returns from native code several times;
with Python's 5 ms each return can cost that much (docs/decisions/0012)."""
COLLECTED = (20_000, 20, 20)
"""Allocations before a collection of the youngest generation, and collections before one of older ones: a search's
garbage is freed without them, and what it caches stays for long."""
HANDLERS = [handler for family in (health, answers, sessions, ingest, openai, pages) for handler in family.HANDLERS]
_log = get_logger("serve")


def create_app(services: Services, settings: Settings, *, heartbeat_s: float = HEARTBEAT_S) -> Litestar:
    """The server as an ASGI application; silent streams get a comment every `heartbeat_s`."""
    metrics = Metrics()
    service = AnswerService(services, settings, metrics, heartbeat_s)
    jobs = ingest.Jobs(services.board)
    guests = guest_pages()
    files, workshop = pages.StaticFiles(pages.STATIC, *(guest.static for guest in guests)), Workshop()
    reader = Reader(
        services.library,
        workshop,
        services.renderer,
        files.stamp_page,
        opened=services.opened_page,
        reading=lambda: progress_of(jobs),
    )
    shared = {"service": service, "settings": settings, "reader": reader, "jobs": jobs}
    probe = Probe(services.retrieve, services.clock)
    shared |= {"files": files, "workshop": workshop, "probe": probe}
    token = settings.admin_token.get_secret_value() if settings.admin_token is not None else None
    # Without a page for setting a password, only the operator's token counts.
    sign_ins = SignIns(token, services.clock, TeacherPassword(settings.data_dir) if guests else None)
    door = Door(settings.host, network_addresses)
    server = GuestServer(settings, service, jobs, door, workshop, files)
    shared |= {"sign_ins": sign_ins, "server": server}
    for guest in guests:
        shared |= guest.give(server)
    if "*" in settings.cors_origins:
        _log.warning("cors_open", detail="LUTRIN_CORS_ORIGINS is *: pages of any site may ask.")

    @asynccontextmanager
    async def running(app: Litestar) -> AsyncIterator[None]:
        await asyncio.to_thread(prepare, app)
        await asyncio.to_thread(finish_replacements, settings.corpus_dir)
        if (
            services.reads_first
            and services.ingest is not None
            and await asyncio.to_thread(_holds_any, settings.corpus_dir)
        ):
            await jobs.add(services.ingest, service.spawn)
        try:
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(service.keeping_house())
                if settings.watch and services.ingest is not None:
                    read = partial(jobs.add, services.ingest, service.spawn)
                    work = partial(watch_folder, settings.corpus_dir, read)
                    await stack.enter_async_context(services.background.running(work, name="watch"))
                yield
        finally:
            await probe.close()
            await service.close()
            workshop.close()
            services.renderer.close()

    return Litestar(
        route_handlers=[*HANDLERS, *(handler for guest in guests for handler in guest.handlers)],
        dependencies={
            **{name: Provide(_giver(value), sync_to_thread=False) for name, value in shared.items()},
            "visit": Provide(Visit, sync_to_thread=False),
        },
        middleware=[RequestGuard((settings.host, *settings.allowed_hosts), settings.cors_origins)],
        exception_handlers=problems.HANDLERS,
        before_send=[secure, metrics.count],
        cors_config=CORSConfig(
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Accept", "Authorization", "Content-Type", "Last-Event-ID", "X-Lutrin-Client"],
            expose_headers=["Retry-After", MESSAGE_HEADER, ASKED_HEADER, CLIENT_HEADER],
        ),
        openapi_config=openapi_config(),
        lifespan=[running],
        logging_config=None,
        state=State({"service": service, "sign_ins": sign_ins, "door": door}),
        request_class=StrictRequest,
        request_max_body_size=None,  # the guard counts it
        multipart_form_part_limit=MAX_FILES + ingest.OTHER_FIELDS,
    )


def with_guards(app: Litestar, services: Services, settings: Settings) -> ASGIApp:
    """Wrap the application in the layers before its router: its path, the budget, compression, and HEAD."""
    budget = Budget(settings.rate_peer_per_min, services.clock)
    inside = budgeting(finishing(app), budget, settings.trusted_proxies)
    return below(inside, settings.root_path, settings.trusted_proxies)


async def run_server(
    services: Services,
    settings: Settings,
    *,
    on_ready: Callable[[str], None] | None = None,
    on_code: Callable[[str], None] | None = None,
    listener: socket.socket | None = None,
) -> None:
    """Serve until a signal, then give running answers 3 seconds; raises as `listen`.

    Args:
        on_ready: Called with the address.
        on_code: Then called with the code for setting the teacher's password, if there is none yet.
    """
    listener = listener or listen(settings.host, settings.port)
    app = create_app(services, settings)
    connections = Connections(
        most_connections(settings.connections, raise_file_limit()),
        settings.connections_per_peer,
        settings.trusted_proxies,
    )
    service: AnswerService = app.state.service
    service.metrics.connections.set_function(lambda: connections.count)
    config = uvicorn.Config(
        with_guards(app, services, settings),
        http=partial(BoundedProtocol, connections),  # type: ignore[arg-type]  # uvicorn calls it, as it would the class
        ws="none",
        backlog=ACCEPTED_AT_ONCE,
        workers=1,
        access_log=False,  # paths hold session ids
        log_config=None,
        proxy_headers=False,  # only LUTRIN_TRUSTED_PROXIES are believed
        server_header=False,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=SHUTDOWN_S,
        lifespan="on",
    )
    give_back()
    gc.freeze()  # what was loaded stays: looking through all of it for garbage stops everybody for 0.15 s
    gc.set_threshold(*COLLECTED)
    sys.setswitchinterval(SWITCH_S)
    with listener:
        if on_ready is not None:
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            on_ready(f"http://{host}:{listener.getsockname()[1]}")
        sign_ins: SignIns = app.state.sign_ins
        if on_code is not None and not sign_ins.possible and sign_ins.password is not None:
            on_code(spaced(sign_ins.password.code))
        await _Server(config, service, app.state.door).serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Ends on a signal without raising it again, so that the caller can close its services.

    Running answers are finished, or end in an error event, before their connections close.
    """

    def __init__(self, config: uvicorn.Config, service: AnswerService, door: Door) -> None:
        super().__init__(config)
        self._service = service
        self._door = door

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # the loop takes few at once; more than these may wait for it
        if sockets:
            self._door.install(sockets[0].getsockname()[1], self._accept, self._through)

    def _through(self) -> list[H11Protocol]:
        """All connections."""
        return [one for one in self.server_state.connections if isinstance(one, H11Protocol)]

    async def _accept(self, listener: socket.socket) -> asyncio.Server:
        """Serve one more listener, like `startup` does the first."""
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.Protocol:
            make = self.config.http_protocol_class
            return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state, _loop=loop)  # type: ignore[call-arg]  # as uvicorn does

        server = await loop.create_server(protocol, sock=listener, backlog=ACCEPTED_AT_ONCE)
        listener.listen(BACKLOG)
        self.servers.append(server)
        return server

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.create_task(self._service.end(ANSWERS_END_S))
        await super().shutdown(sockets)
        await ending

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
            yield
            return
        loop = asyncio.get_running_loop()
        ends = (signal.SIGINT, signal.SIGTERM)
        for number in ends:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in ends:
                loop.remove_signal_handler(number)


def listen(host: str, port: int) -> socket.socket:
    """Bind a port; raises LutrinError if it is in use, or the address belongs to another machine."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, proto)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        reasons = {
            errno.EADDRINUSE: (f"Port {port} is in use.", "Choose another one with --port."),
            errno.EACCES: (f"Port {port} requires root privileges.", "Choose one above 1023 with --port."),
        }
        other = (f"Cannot listen on {host}: {error.strerror}.", "Choose another address with --host or LUTRIN_HOST.")
        detail, remedy = reasons.get(error.errno or 0, other)
        raise LutrinError(detail, remedy=remedy) from error
    return listener


def _holds_any(folder: Path) -> bool:
    """Whether a folder exists and has contents; a teacher who starts with none should see no failure."""
    return folder.is_dir() and any(not child.name.startswith(".") for child in folder.iterdir())


def _giver(value: object) -> Callable[[], object]:
    return lambda: value
