"""The supervisor's hold on a container, with a stand-in for the engine's client."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from proctor.sandboxes.inside.contained import Container

CLIENT = """
import os, socket, sys
open("oom", "w").close()
with open(sys.argv[2], "w") as file: file.write(os.getcwd())
control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
control.connect(sys.argv[1] + "/control")
control.recv(1)
"""


def test_what_an_engine_leaves_where_it_was_started_goes_with_the_container(tmp_path: Path) -> None:
    told = tmp_path / "folder"
    command = [sys.executable, "-c", CLIENT, "{folder}", str(told)]
    container = Container("stand-in", command, "", dict(os.environ), lambda name: True)
    try:
        assert container.control_socket.fileno() >= 0
    finally:
        container.end()
        container.reap_client()
    assert told.read_text() != "/"
    assert not Path(told.read_text()).exists()
