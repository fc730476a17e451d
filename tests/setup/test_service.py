"""Serving a room: the address that pupils type, the names that get in, and the unit that keeps it running."""

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from lutrin.cli.main import lutrin
from lutrin.cli.serve import qr_code, serving_room, unit, with_own_names
from lutrin.platform import network_addresses
from lutrin.settings import Settings

SETTINGS = Settings.model_construct(
    allowed_hosts=("book.school.example",), data_dir=Path("data"), corpus_dir=Path("corpus")
)
ADDRESS = "http://192.168.1.20:7860"


def test_the_address_to_type_comes_first_and_as_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """The machine's own address with its port, not 0.0.0.0, which a browser cannot open."""
    serving_room(["192.168.1.20", "172.17.0.1"], drawn=True)("http://0.0.0.0:7860")
    said = capsys.readouterr().out
    assert said.startswith(f"Pupils open {ADDRESS} ")
    assert "http://172.17.0.1:7860" in said
    assert said.endswith(qr_code(ADDRESS))
    assert len(qr_code(ADDRESS).splitlines()) > 10


def test_a_log_gets_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """Where standard output is no terminal, as under systemd, the address stands alone."""
    serving_room(["192.168.1.20"])("http://0.0.0.0:7860")
    assert capsys.readouterr().out.splitlines() == [f"Pupils open {ADDRESS} (Ctrl-C ends it)."]


def test_a_machine_in_no_network_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The server still answers locally, and tells the operator why others cannot connect."""
    serving_room([])("http://0.0.0.0:7860")
    assert "not connected to a network" in capsys.readouterr().err


def test_the_loopback_is_no_address_for_pupils() -> None:
    """What a pupil's machine would take for itself is never shown."""
    assert not [item for item in network_addresses() if item.startswith(("127.", "0."))]


def test_the_machines_own_names_get_in_beside_those_of_the_settings() -> None:
    """Its name, with and without what multicast DNS appends; no page elsewhere can call itself so."""
    names = with_own_names(SETTINGS, "Robot7.lab.example").allowed_hosts
    assert names == ("book.school.example", "robot7.lab.example", "robot7", "robot7.local")


def test_an_address_and_the_whole_network_exclude_each_other() -> None:
    """Two wishes that contradict each other are wrong usage, not a guess."""
    done = CliRunner().invoke(lutrin, ["serve", "--lan", "--host", "127.0.0.1"])
    assert done.exit_code == 2
    assert "--lan" in done.output


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("folder", ["lutrin", "Lutrin of 4 b, 100 %"])
def test_systemd_understands_the_unit(tmp_path: Path, folder: str) -> None:
    """`systemd-analyze verify` finds nothing in it, in a folder with spaces and a percent sign too."""
    home = tmp_path / folder
    command = home / ".venv" / "bin" / "lutrin"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n", "ascii")
    command.chmod(0o755)
    place = tmp_path / "lutrin.service"
    place.write_text(unit(SETTINGS, home, command, user="daemon", lan=True, gpu=False), "utf-8")
    done = subprocess.run(["systemd-analyze", "verify", place], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "lutrin.service" in line] == []
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", place],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout[-400:]


def test_the_unit_opens_the_home_folders_only_to_what_lies_there() -> None:
    """In /opt no home folder is visible; a checkout in a home folder can be read, not written."""
    for home, said in (("/opt/lutrin", "ProtectHome=yes"), ("/home/ada/lutrin", "ProtectHome=read-only")):
        text = unit(SETTINGS, Path(home), Path(home) / "bin" / "lutrin", user="lutrin", lan=False, gpu=False)
        assert said in text
        assert f'ReadWritePaths="{home}/data" "{home}/corpus"' in text
