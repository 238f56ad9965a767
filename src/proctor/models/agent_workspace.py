"""A command-line agent in a workspace of its own: it finds what it is told in a folder and leaves a program there."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from msgspec import Struct, field

from proctor.domain.errors import ProviderFaultError, RequestRejectedError, SandboxError
from proctor.domain.sandbox import MIB, Ending, SandboxLimits, SandboxResult
from proctor.domain.submission import MAX_BYTES, MAX_FILES, TOOL_FOLDERS, left_behind, left_by
from proctor.domain.workspace import APP, WORK, Runner, Workspace, WorkspaceLimits
from proctor.models.process import Finished, ProcessLimits

AGENT, PROMPT = "agent", "prompt.txt"
DISK_BYTES = 256 * MIB
OPENING_SECONDS = 60.0
MAX_TOLD = 50
"""Of what was left out."""
_OF_ITSELF = frozenset({Ending.EXITED, Ending.CRASHED})


class Task(Struct, frozen=True):
    """A program to run, what it is told, and what it may use."""

    program: str
    arguments: tuple[str, ...]
    prompt: str
    seed: Mapping[str, bytes]
    environment: Mapping[str, str]
    limits: ProcessLimits


class Left(Struct, frozen=True):
    """What an agent left in its folder."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """What is new or changed there."""
    refusal: str = ""
    """Why nothing of it was taken; empty where it was."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What is no part of the program: path -> why."""


class Worked(Struct, frozen=True):
    finished: Finished
    left: Left
    seconds: float
    limit: str
    """The limit that it passed, which is its own doing, such as its time; empty where it came to an end of itself."""


async def work_in_place(task: Task, runner: Runner) -> Worked:
    """Run the agent to its end or a limit; everything of it is gone afterwards but the files it built."""
    command, agent = _command(task), Path(task.program).read_bytes()  # noqa: ASYNC240 - a script, read once
    limits = WorkspaceLimits(
        task.limits.memory_mb * MIB, task.limits.processes, 2 * DISK_BYTES, task.limits.seconds + OPENING_SECONDS
    )
    try:
        workspace = await runner.open(limits)
    except SandboxError as fault:
        raise ProviderFaultError(f"no workspace for the agent could be opened: {fault}") from fault
    try:
        await workspace.write({AGENT: agent, PROMPT: task.prompt.encode()})
        await workspace.write(task.seed, under=WORK)
        started = time.perf_counter()
        is_told = any("{prompt}" in arg or "{prompt_file}" in arg for arg in task.arguments)
        done = await workspace.execute(
            command,
            stdin=b"" if is_told else task.prompt.encode(),
            environment=task.environment,
            folder=WORK,
            limits=_limits(task.limits),
        )
        seconds = time.perf_counter() - started
        left = await _left(workspace, task.seed)
        limit = "" if done.ending in _OF_ITSELF else str(done.ending)
        return Worked(_finished(done), left, seconds, limit)
    except SandboxError as fault:
        raise ProviderFaultError(f"the agent's workspace failed: {fault}") from fault
    finally:
        await workspace.close()


def _command(task: Task) -> list[str]:
    """A workspace holds files, not permissions: a script is started by the interpreter its first line names."""
    with Path(task.program).open("rb") as file:
        first = file.readline(1_000)
    if not first.startswith(b"#!"):
        raise RequestRejectedError(f"{Path(task.program).name} is no script (#!): only scripts can work in a sandbox")
    words = {"{prompt_file}": f"{APP}/{PROMPT}", "{folder}": WORK, "{prompt}": task.prompt}
    arguments = []
    for argument in task.arguments:
        for word, value in words.items():
            argument = argument.replace(word, value)  # noqa: PLW2901
        arguments.append(argument)
    return [*shlex.split(first[2:].decode("utf-8", "replace").strip()), f"{APP}/{AGENT}", *arguments]


def _limits(limits: ProcessLimits) -> SandboxLimits:
    return SandboxLimits(
        wall_seconds=limits.seconds,
        cpu_seconds=4 * limits.seconds,
        memory_bytes=limits.memory_mb * MIB,
        processes=limits.processes,
        file_bytes=64 * MIB,
        disk_bytes=DISK_BYTES,
        output_bytes=4 * MIB,
    )


def _finished(done: SandboxResult) -> Finished:
    """What ended it counts as a signal of its own; a limit it passed is said where it would have spoken."""
    if done.ending is Ending.EXITED:
        return Finished(done.exit_code or 0, done.stdout, done.stderr)
    said = done.stderr + f"\nended by its limit: {done.ending}".encode()
    return Finished(-(done.signal or 9), done.stdout, said)


def told(paths: Iterable[str], others: Mapping[str, str]) -> dict[str, str]:
    """What is no part of a program, and why: what tools left among these paths, and others for their own reasons.

    A tool's folder is named once, whatever is in it; of very many, the first are enough.
    """
    found: dict[str, str] = {}
    for path in (*paths, *others):
        if (tool := left_by(path)) is not None:
            *folders, _ = path.split("/")
            ends = (workspace for workspace, part in enumerate(folders, 1) if part in TOOL_FOLDERS)
            found["/".join([*folders[:workspace], ""]) if (workspace := next(ends, 0)) else path] = left_behind(tool)
        elif path in others:
            found[path] = others[path]
    return dict(islice(found.items(), MAX_TOLD))


def too_much(sizes: Mapping[str, int]) -> str:
    """Why files of these sizes are no program: there are too many, or they are too large; empty where they are not."""
    if len(sizes) <= MAX_FILES and sum(sizes.values()) <= MAX_BYTES:
        return ""
    return f"The agent left more than {MAX_FILES:,} files or {MAX_BYTES // MIB} MiB behind: nothing was taken."


async def _left(workspace: Workspace, seed: Mapping[str, bytes]) -> Left:
    """What it built, or nothing and why: too much is an answer that cannot be read, not a fault."""
    listed = await workspace.list(WORK)
    wanted = {path: size for path, size in listed.items() if left_by(path) is None}
    if refusal := too_much(wanted):
        return Left(refusal=refusal)
    read = await workspace.read([f"{WORK}/{path}" for path in sorted(wanted)])
    found = {path.removeprefix(f"{WORK}/"): content for path, content in read.items()}
    unread = dict.fromkeys(sorted(wanted.keys() - found.keys()), "it could not be read")
    files = {path: content for path, content in found.items() if seed.get(path) != content}
    return Left(files, left_out=told(listed, {**await workspace.left_out(WORK), **unread}))
