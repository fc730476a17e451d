"""compose.yaml and Caddyfile as far as they can be judged without an engine for containers."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.end_to_end.processes import environment, run
from tests.remote.proxy import CADDYFILE, proxy, validated

from lutrin import messages
from lutrin.cli.main import lutrin
from lutrin.settings import Settings, variable_name

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
# Of the Compose Specification: the top-level elements, and the attributes of a service that are used here.
TOP_LEVEL = {"name", "services", "networks", "volumes", "configs", "secrets"}
ATTRIBUTES = {
    *("build", "command", "depends_on", "environment", "healthcheck", "image", "ports", "profiles", "restart"),
    *("volumes", "init", "read_only", "cap_drop", "cap_add", "security_opt", "pids_limit", "mem_limit", "ulimits"),
    *("tmpfs", "env_file"),
}
BUILD = {"context", "dockerfile", "args"}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}
SECRETS = {
    "GEMINI_API_KEY": "key-of-gemini",
    "QDRANT_API_KEY": "key-of-qdrant",
    "POSTGRES_PASSWORD": "passwordOfPostgres1",
    "LUTRIN_CHAT_KEY": "ab" * 32,
}
"""What the head of the file asks for in `.env`."""
OURS = [name for name, service in SERVICES.items() if "build" in service]
UNKNOWN = re.compile(r"\$(?!\{(?P<name>\w+):-\})")


def filled(text: str, given: dict[str, str]) -> str:
    """A value with its variables, of which those that are not given are empty."""
    assert not UNKNOWN.findall(text), "a variable without a default breaks the other profile"
    return re.sub(r"\$\{(\w+):-\}", lambda found: given.get(found[1], ""), text)


def test_the_form_is_that_of_the_specification() -> None:
    """Known elements only, extensions aside, and each service is either built or an image with its registry and tag."""
    assert {name for name in COMPOSE if not name.startswith("x-")} <= TOP_LEVEL
    for name, service in SERVICES.items():
        assert set(service) <= ATTRIBUTES, name
        assert ("build" in service) != ("image" in service), name
        assert set(service["profiles"]) <= {"local", "remote"}, name
        assert service["restart"] in {"no", "unless-stopped"}, name
        if "image" in service:
            assert re.fullmatch(r"docker\.io/[\w./-]+:[\w.-]+", service["image"]), name
            assert not service["image"].endswith(":latest"), name
        else:
            assert set(service["build"]) <= BUILD, name
            assert (ROOT / service["build"]["dockerfile"]).is_file()
            assert all(f"ARG {argument}" in containerfile() for argument in service["build"].get("args", {}))


def test_what_a_service_waits_for_is_there() -> None:
    """Every name is a service of the same profile; one that must be healthy has a check."""
    for name, service in SERVICES.items():
        awaited = service.get("depends_on", {})
        conditions = awaited.items() if isinstance(awaited, dict) else [(other, {}) for other in awaited]
        for other, condition in conditions:
            assert set(SERVICES[other]["profiles"]) & set(service["profiles"]), name
            assert condition.get("condition", "service_started") in CONDITIONS
            if condition.get("condition") == "service_healthy":
                assert SERVICES[other]["healthcheck"]["test"]


def test_volumes_are_declared_and_folders_there() -> None:
    """What is mounted is a volume of the file or is in the checkout; nothing is reached from other machines."""
    for name, service in SERVICES.items():
        for mount in service.get("volumes", []):
            source = mount.split(":")[0]
            assert (ROOT / source).exists() if source.startswith("./") else source in COMPOSE["volumes"], name
        for port in service.get("ports", []):
            assert port.startswith("${LUTRIN_PUBLISH:-127.0.0.1:7860}:"), name


@pytest.mark.parametrize("profile", ["local", "remote"])
def test_a_parser_of_compose_files_takes_each_profile(profile: str, tmp_path: Path) -> None:
    """podman-compose resolves the file and finds the services of the profile, each with its image or its build."""
    podman = tmp_path / "podman"
    podman.write_text('#!/bin/sh\necho "podman version 4.3.1"\n')
    podman.chmod(0o755)
    file = str(ROOT / "compose.yaml")
    command = [sys.executable, "-m", "podman_compose", "--podman-path", str(podman), "-f", file]
    variables = {"PATH": os.environ["PATH"], **SECRETS}
    done = subprocess.run(
        [*command, "--profile", profile, "config"], env=variables, capture_output=True, text=True, check=True
    )
    resolved = yaml.safe_load(done.stdout)["services"]
    assert {name for name, service in SERVICES.items() if profile in service["profiles"]} <= set(resolved)
    assert all("build" in service or "image" in service for service in resolved.values())
    if profile == "remote":
        assert resolved["server-1"]["environment"]["QDRANT_API_KEY"] == SECRETS["QDRANT_API_KEY"]


@pytest.mark.parametrize("name", OURS)
def test_variables_and_commands_are_ours(name: str, models_dir: Path, tmp_path: Path) -> None:
    """Every variable is a setting; with the secrets that the file asks for, the program takes all of them."""
    service = SERVICES[name]
    known = {variable_name(field) for field in Settings.model_fields}
    assert set(service["environment"]) <= known
    if "command" in service:
        assert service["command"][0] == "lutrin"
        assert service["command"][1] in lutrin.commands
    variables = {key: filled(value, SECRETS) for key, value in service["environment"].items()}
    done = run(environment(models_dir, tmp_path, **variables), tmp_path, "config", "--json")
    assert done.code == 0, done.err
    assert done.json()["LUTRIN_PROFILE"] == service["profiles"][0]


@pytest.mark.parametrize("missing", ["GEMINI_API_KEY", "QDRANT_API_KEY"])
def test_a_secret_that_is_missing_is_named(missing: str, models_dir: Path, tmp_path: Path) -> None:
    """Not filled in means not set: the start fails with the sentence that names it."""
    given = {name: value for name, value in SECRETS.items() if name != missing}
    variables = {key: filled(value, given) for key, value in SERVICES["server-1"]["environment"].items()}
    done = run(environment(models_dir, tmp_path, **variables), tmp_path, "config")
    assert done.code == 1
    assert f"Required environment variable {missing} not set." in done.err


def test_no_secret_is_asked_for_in_vain() -> None:
    """The head of the file names those that servers need, and each is used."""
    text = (ROOT / "compose.yaml").read_text("utf-8")
    for name in SECRETS:
        assert name in text.split("x-server:")[0]
        assert f"${{{name}:-}}" in text


def test_servers_side_by_side_differ_in_nothing() -> None:
    """Two of them, with one key and one database; their proxy is believed, for it is in their network."""
    first, second = SERVICES["server-1"], SERVICES["server-2"]
    assert first == second
    (network,) = COMPOSE["networks"]["default"]["ipam"]["config"]
    assert first["environment"]["LUTRIN_TRUSTED_PROXIES"] == network["subnet"]
    assert f"{SERVICES['postgres']['environment']['POSTGRES_USER']}:" in first["environment"]["DATABASE_URL"]
    assert first["environment"]["DATABASE_URL"].endswith(f"/{SERVICES['postgres']['environment']['POSTGRES_DB']}")


def test_ours_are_closed() -> None:
    """No rights, a root that cannot be written, bounds on memory and processes, and somebody who reaps children."""
    for name in OURS:
        service = SERVICES[name]
        assert (service["read_only"], service["init"], service["cap_drop"]) == (True, True, ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["pids_limit"]
        assert service["mem_limit"]


def test_qdrant_is_of_the_client_s_version() -> None:
    """The client speaks to servers that are one minor version apart at most."""
    server = re.search(r":v(\d+)\.(\d+)\.\d+$", SERVICES["qdrant"]["image"])
    assert server is not None
    major, minor = version("qdrant-client").split(".")[:2]
    assert server[1] == major
    assert abs(int(server[2]) - int(minor)) <= 1


def test_the_proxy_knows_the_servers() -> None:
    """Both, at the port that the image serves on, and nothing else; it listens where the file publishes it."""
    assert "LUTRIN_PORT=7860" in containerfile()
    servers = re.search(r"\{\$LUTRIN_SERVERS:([^}]+)\}", CADDYFILE.read_text("utf-8"))
    assert servers is not None
    assert servers[1].split() == [f"{name}:7860" for name in ("server-1", "server-2")]
    assert SERVICES["proxy"]["depends_on"] == ["server-1", "server-2"]
    assert SERVICES["proxy"]["ports"] == ["${LUTRIN_PUBLISH:-127.0.0.1:7860}:7860"]
    assert "{$LUTRIN_PROXY_PORT:7860}" in CADDYFILE.read_text("utf-8")
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in SERVICES["proxy"]["volumes"]


def test_the_proxy_s_configuration_is_valid() -> None:
    """Caddy itself reads it without a complaint."""
    assert "Valid configuration" in validated()


def test_without_any_server_the_proxy_is_friendly(tmp_path: Path) -> None:
    """The same sentence and form as a server's own, with when to come back."""
    with proxy(["127.0.0.1:1", "127.0.0.1:2"], tmp_path) as client:
        reply = client.post("/chat", json={"message": "What is a costmap?", "session_id": "s"})
    assert reply.status_code == 503
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["detail"] == messages.KNOWLEDGE_BASE_DOWN
    assert reply.json()["retry_after_s"] == int(reply.headers["retry-after"])


class Echo(BaseHTTPRequestHandler):
    """A server that says what reached it."""

    def do_GET(self) -> None:
        """Answer with the path and the headers."""
        body = json.dumps({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def echo() -> Iterator[str]:
    """`host:port` of such a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "/METRICS", "//metrics", "/%6detrics", "/x/../metrics/"])
def test_figures_do_not_leave_the_house(echo: str, tmp_path: Path, path: str) -> None:
    """However the path is spelled; what readers need passes."""
    with proxy([echo], tmp_path) as client:
        assert client.get("/health").status_code == 200
        address = (client.base_url.host, client.base_url.port or 0)
        with socket.create_connection(address, timeout=20) as connection:  # as it stands: a client would tidy the path
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            assert connection.makefile("rb").readline().split()[1] == b"403"


def test_with_a_name_the_proxy_speaks_tls(echo: str, tmp_path: Path) -> None:
    """The server gets the reader's real address, even if the reader claims another, and learns that TLS was used."""
    try:
        socket.create_server(("", 80)).close()
    except OSError:
        pytest.skip("Caddy sends readers from port 80 to TLS, and that port is not free here")
    with proxy([echo], tmp_path, site="localhost") as client:
        claimed = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example"}
        reached = client.get("/read", headers=claimed).json()
        assert client.get("/metrics/").status_code == 403
    assert reached["x-forwarded-for"] in {"127.0.0.1", "::1"}
    assert reached["x-forwarded-proto"] == "https"
    assert reached["x-forwarded-host"].startswith("localhost")


def containerfile() -> str:
    """The Containerfile."""
    return (ROOT / "Containerfile").read_text("utf-8")
