"""Programs that end the process which was to say how they ended: it is still the program that failed."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.domain.sandbox import Program, SandboxResult
from proctor.sandboxes.pool import SandboxPool
from sandboxes.conftest import SMALL, within

BACKENDS = ("namespaces", "bubblewrap", "firejail", "nsjail")
pytestmark = pytest.mark.timeout(300)

_EVERYBODY = """
import os, signal
for number in ({numbers}):
    for name in sorted(os.listdir("/proc")):
        if name.isdigit() and int(name) != os.getpid():
            try: os.kill(int(name), number)
            except OSError: pass
print(2)
"""
PROGRAMS = {
    "interrupts the first process": "import os, time\nos.kill(1, 2)\ntime.sleep(0.5)\nprint(1)\n",
    "kills its parent": "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(0.5)\nprint(1)\n",
    "kills everybody it can see": _EVERYBODY.format(numbers="9,"),
    "sends everybody every signal": _EVERYBODY.format(
        numbers="*(n for n in range(1, signal.NSIG) if n not in (9, 19)), 9"
    ),
}


@pytest.fixture(scope="module", params=BACKENDS)
def executions(request: pytest.FixtureRequest) -> dict[str, SandboxResult | Exception]:
    async def run_all(sandbox: SandboxPool) -> dict[str, SandboxResult | Exception]:
        done: dict[str, SandboxResult | Exception] = {}
        for name, source in {**PROGRAMS, "afterwards": "print(40 + 2)\n"}.items():
            try:
                done[name] = await sandbox.run(Program(source), SMALL)
            except Exception as error:  # noqa: BLE001  shown by the test of that program
                done[name] = error
        return done

    found: dict[str, Any] = within(request.param, run_all)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_attacks_its_first_process_has_an_ending(
    executions: dict[str, SandboxResult | Exception], name: str
) -> None:
    done = executions[name]
    assert isinstance(done, SandboxResult), done
    assert done.stdout in (b"", b"1\n", b"2\n")


def test_the_next_program_runs_as_ever(executions: dict[str, SandboxResult | Exception]) -> None:
    done = executions["afterwards"]
    assert isinstance(done, SandboxResult), done
    assert done.stdout == b"42\n"
