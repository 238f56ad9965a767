"""The `program` a check uses: files and processes in the workspace, by asking the harness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor.programs.checking.link import HarnessLink


def as_bytes(data: str | bytes) -> bytes:
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended and what it printed; `code` is None unless it exited by itself."""

    code: int | None
    ending: str
    out_bytes: bytes
    err_bytes: bytes
    seconds: float

    @property
    def out(self) -> str:
        return self.out_bytes.decode("utf-8", "replace")

    @property
    def err(self) -> str:
        return self.err_bytes.decode("utf-8", "replace")


def _done(answer: Mapping[str, Any]) -> Done:
    return Done(answer["code"], answer["ending"], answer["out"], answer["err"], answer["seconds"])


class BackgroundCommand:
    """A command that runs while the check goes on."""

    def __init__(self, link: HarnessLink, number: int) -> None:
        self._link = link
        self._number = number

    def send(self, data: str | bytes) -> None:
        self._link.ask("send", job=self._number, data=as_bytes(data))

    def signal(self, number: int) -> None:
        self._link.ask("signal", job=self._number, number=int(number))

    def kill(self) -> None:
        self.signal(9)

    def out(self) -> str:
        """What it printed until now."""
        return str(self._link.ask("out", job=self._number)["out"].decode("utf-8", "replace"))

    def err(self) -> str:
        return str(self._link.ask("out", job=self._number)["err"].decode("utf-8", "replace"))

    def wait(self, timeout: float = 10) -> Done | None:
        """How it ended; None when it is still running by then."""
        answer = self._link.ask("wait", job=self._number, seconds=timeout)
        return None if answer is None else _done(answer)


class ProgramUnderTest:
    """What every kind of program has: a folder to work in, and its language."""

    def __init__(self, link: HarnessLink, setup: Mapping[str, Any]) -> None:
        self._link = link
        self._setup = setup
        self.language: str = setup["language"]

    def begin_check(self) -> None:
        """Before every test: an empty working folder, nothing left running from the one before."""
        self._link.ask("begin")

    def end_check(self) -> None:
        """After every test."""

    def fresh(self) -> None:
        self._link.ask("fresh")

    def write(self, path: str, data: str | bytes) -> None:
        self._link.ask("write", path=str(path), data=as_bytes(data))

    def read(self, path: str) -> bytes | None:
        found: bytes | None = self._link.ask("read", path=str(path))
        return found

    def list(self) -> dict[str, int]:
        return dict(self._link.ask("list"))


class Command(ProgramUnderTest):
    """Run to its end, or started and talked to."""

    def run(
        self,
        *arguments: object,
        stdin: str | bytes = "",
        files: Mapping[str, str | bytes] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 10,
    ) -> Done:
        answer = self._link.ask(
            "run",
            arguments=[str(argument) for argument in arguments],
            stdin=as_bytes(stdin),
            files={str(path): as_bytes(data) for path, data in (files or {}).items()},
            env=dict(env or {}),
            seconds=timeout,
        )
        return _done(answer)

    def start(
        self,
        *arguments: object,
        files: Mapping[str, str | bytes] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> BackgroundCommand:
        number = self._link.ask(
            "start",
            arguments=[str(argument) for argument in arguments],
            files={str(path): as_bytes(data) for path, data in (files or {}).items()},
            env=dict(env or {}),
            seconds=timeout,
        )
        return BackgroundCommand(self._link, number)
