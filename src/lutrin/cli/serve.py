"""`lutrin serve` and `lutrin service`: answer this machine or a whole room, once or permanently."""

import asyncio
import getpass
import io
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import click
import segno

from lutrin.cli.console import data_dir_option, say, serving, settings_option
from lutrin.errors import LutrinError
from lutrin.platform import network_addresses
from lutrin.settings import Settings, load_settings

EVERYWHERE = "0.0.0.0"  # noqa: S104 - --lan is the operator's wish to be reached from the whole network
UNIT = Path("/etc/systemd/system/lutrin.service")
HOMES = (Path("/home"), Path("/root"))


@click.command()
@click.option("--host", help="Address to listen on (LUTRIN_HOST, default 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65_535), help="Port to listen on (LUTRIN_PORT, default 7860).")
@click.option("--lan", is_flag=True, help="Let other machines of the network connect; print the address and a QR code.")
@click.option("--echo", is_flag=True, help="Print each question and answer to the terminal.")
@click.option("--ingest", "reading", is_flag=True, help="Read the books in corpus/ once, while the server starts.")
@data_dir_option
def serve(*, host: str | None, port: int | None, lan: bool, echo: bool, reading: bool, data_dir: Path | None) -> None:
    """Answer questions on http://127.0.0.1:7860."""
    if lan and host is not None:
        raise click.UsageError("--lan listens on every address; leave --host out.")
    settings = load_settings(data_dir=data_dir, host=EVERYWHERE if lan else host, port=port)
    # A wrong setting is told before anything is loaded.
    from lutrin.runtime import wiring  # noqa: PLC0415 - a stage's vendors load only when it runs

    if lan:
        settings = with_own_names(settings, socket.gethostname())
    on_ready = serving_room(network_addresses()) if lan else serving
    running = wiring.run_server(
        settings,
        echo=say if echo else None,
        on_ready=on_ready,
        on_code=partial(show_code, settings.port),
        reading=reading,
    )
    asyncio.run(running)


def show_code(port: int, code: str) -> None:
    """Print the code that a teacher needs to set the password of her page in her browser."""
    say(f"Teachers begin on http://127.0.0.1:{port}/teacher with the code {code}.")


def with_own_names(settings: Settings, host_name: str) -> Settings:
    """Allow the names that this machine has in its own network; no page on the internet can claim them."""
    name = host_name.partition(".")[0].lower()
    names = (*settings.allowed_hosts, host_name.lower(), name, f"{name}.local")
    return settings.model_copy(update={"allowed_hosts": tuple(dict.fromkeys(filter(None, names)))})


def serving_room(addresses: Sequence[str], *, drawn: bool | None = None) -> Callable[[str], None]:
    """Return a function that prints the server's address, with a QR code if `drawn` or on a terminal."""

    def show(address: str) -> None:
        port = urlsplit(address).port
        if not addresses:
            serving(address)
            say("This machine is not connected to a network yet. Connect it, then start Lutrin again.", err=True)
            return
        first, *others = (f"http://{item}:{port}" for item in addresses)
        say(f"Pupils open {first} (Ctrl-C ends it).")
        if others:
            say(f"On this machine's other networks: {', '.join(others)}")
        if sys.stdout.isatty() if drawn is None else drawn:
            click.echo(qr_code(first), nl=False)  # its bytes are ours, and paint

    return show


def qr_code(address: str) -> str:
    """Draw an address as a QR code of block characters, dark on light."""
    out = io.StringIO()
    segno.make(address, micro=False).terminal(out=out, compact=True)
    return out.getvalue()


@click.command()
@click.option("--user", default="lutrin", show_default=True, help="User that runs the service; created if missing.")
@click.option("--lan", is_flag=True, help="Let other machines of the network connect.")
@click.option("--gpu", is_flag=True, help="Let the service use this machine's devices, such as the graphics processor.")
@click.option("--install", is_flag=True, help=f"Write {UNIT}, enable it and start it; needs root.")
@settings_option
def service(*, user: str, lan: bool, gpu: bool, install: bool, settings: Settings) -> None:
    """Print the systemd unit that runs Lutrin from this folder, or install it."""
    text = unit(settings, Path.cwd(), Path(sys.executable).with_name("lutrin"), user=user, lan=lan, gpu=gpu)
    if not install:
        say(text, nl=False)
        return
    if shutil.which("systemctl") is None or getpass.getuser() != "root":
        raise LutrinError(
            "A service is installed by root on a machine with systemd.",
            remedy="Run it with sudo; or save the output of `lutrin service` where your system expects units.",
        )
    _install(settings, text, user)


def unit(settings: Settings, home: Path, command: Path, *, user: str, lan: bool, gpu: bool) -> str:
    """Write the systemd unit, with as few rights as Lutrin needs and a restart whenever it ends.

    Source: systemd.exec(5), systemd.resource-control(5). `MemoryDenyWriteExecute` is left out, since the engine makes
    callbacks at run time.
    """
    written = " ".join(_quote(home / path) for path in (settings.data_dir, settings.corpus_dir))
    inside = any(path.is_relative_to(place) for path in (home, command) for place in HOMES)
    return Path(__file__).with_name("lutrin.service").read_text("utf-8").format(
        user=user, home=_escape(home), command=_quote(command), lan=" --lan" if lan else "", written=written,
        protect_home="read-only" if inside else "yes", private_devices="no" if gpu else "yes",
    )  # fmt: skip


def _install(settings: Settings, text: str, user: str) -> None:
    commands: list[list[str]] = []
    if subprocess.run(["id", user], capture_output=True, check=False).returncode:  # noqa: S603, S607 - named by root
        commands.append(["useradd", "--system", "--home-dir", str(Path.cwd()), "--shell", "/usr/sbin/nologin", user])
    for folder in (settings.data_dir, settings.corpus_dir):
        folder.mkdir(parents=True, exist_ok=True)
        commands.append(["chown", "-R", user, str(folder)])
    commands += [["systemctl", "daemon-reload"], ["systemctl", "enable", "--now", UNIT.name]]
    UNIT.write_text(text, "utf-8")
    for command in commands:
        process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed, or named by root
        if process.returncode:
            raise LutrinError(
                f"`{' '.join(command)}` failed: {process.stderr.strip()}.", remedy="Fix that and run it again."
            )
    say(f"Lutrin runs as {UNIT.name}; `journalctl -u {UNIT.stem}` shows its log.")


def _escape(path: Path) -> str:
    return str(path.absolute()).replace("%", "%%")


def _quote(path: Path) -> str:
    """Escape and quote a path for a line that may hold several words."""
    return '"' + _escape(path).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$") + '"'
