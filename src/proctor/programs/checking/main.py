"""The checker's entry: takes its orders from the socket it was started with, runs the tests, reports there."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from proctor.programs.checking import memory
from proctor.programs.checking.link import HarnessLink, HarnessLostError
from proctor.programs.checking.program import Command, ProgramUnderTest
from proctor.programs.checking.wording import text_of

MAX_MESSAGE = 2_000
OPTIONS = (
    *("-c", os.devnull, "--import-mode=importlib", "-q", "--no-header", "--no-summary", "--capture=sys"),
    *("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:pastebin", "-p", "no:junitxml"),
)


def own_socket() -> socket.socket:
    """The socket given as standard input, moved away, so that nothing a test prints or reads can disturb it."""
    sock = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    return sock


def program_of(link: HarnessLink, setup: dict[str, Any]) -> ProgramUnderTest:
    if setup["kind"] == "service":
        from proctor.programs.checking.service import ServiceUnderTest

        return ServiceUnderTest(link, setup)
    if setup["kind"] == "library":
        from proctor.programs.checking.library import Library

        return Library(link, setup)
    return Command(link, setup)


def quiet_hypothesis() -> None:
    """The same examples every time, no clock, no database, the first failure as it is."""
    try:
        from hypothesis import HealthCheck, Phase, settings
    except ImportError:
        return
    settings.register_profile(
        "checker",
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("checker")


def check(link: HarnessLink, setup: dict[str, Any]) -> None:
    import pytest

    from proctor.programs.checking.reporting import Reporting

    quiet_hypothesis()
    plugin = Reporting(link, program_of(link, setup), setup)
    folder = Path(setup["folder"])
    code = pytest.main(
        [*OPTIONS, "--rootdir", str(folder), "--confcutdir", str(folder), *setup["paths"]], plugins=[plugin]
    )
    link.tell("end", code=int(code))


def work(link: HarnessLink, setup: dict[str, Any]) -> None:
    """Do a problem's fixed amount of work with the program, and say how long it took."""
    spec = importlib.util.spec_from_file_location("work", setup["work"])
    if spec is None or spec.loader is None:
        raise ImportError(setup["work"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = program_of(link, setup)
    program.begin_check()
    link.tell("ready")
    began = time.perf_counter()
    problem = ""
    try:
        module.work(program)
    except MemoryError as error:
        problem = memory.used_up(error)
    except Exception as error:  # noqa: BLE001  a program that fails its work is reported, not raised
        problem = f"{type(error).__name__}: {text_of(error)}"[:MAX_MESSAGE]
    seconds = time.perf_counter() - began
    program.end_check()
    link.tell("worked", seconds=seconds, problem=problem)


def main() -> None:
    memory.limit()
    warnings.simplefilter("ignore")
    link = HarnessLink(own_socket())
    setup = link.receive()
    link.begin()
    try:
        (work if setup.get("work") else check)(link, setup)
    except HarnessLostError:
        sys.exit(1)
    # Threads a test left behind must not keep this process.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
