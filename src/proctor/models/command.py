"""A program as a model: `command/./agent.sh` reads the prompt and writes an answer, or a folder of files."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Mapping
from decimal import Decimal
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from proctor.domain.errors import (
    ModelError,
    NotFoundError,
    PlanError,
    ProviderFaultError,
    RequestRejectedError,
    UnusableAnswerError,
    UserError,
)
from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.price import reported
from proctor.domain.response import FinishReason, Response, Usage
from proctor.domain.submission import left_by
from proctor.domain.workspace import Runner
from proctor.models.agent_folder import Stamps, changed, content, is_in_its_place, prepare_folder, stamps, written
from proctor.models.agent_workspace import MAX_TOLD, Left, Task, told, too_much, work_in_place
from proctor.models.extraction import Extraction, compile_extraction
from proctor.models.faults import MAX_READ, Target, parse_or_none
from proctor.models.hiding import without
from proctor.models.offline import refuse_unless_cut_off, without_network
from proctor.models.parts import Accepts, plain_text, prepare
from proctor.models.process import Finished, LimitExceededError, ProcessLimits, run
from proctor.models.provider import Capabilities, Provider
from proctor.models.settings import read_settings, version_of
from proctor.offline import is_confined

ADAPTER_VERSION = "1"
USUAL_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "SHELL", "SSL_CERT_FILE")
TRY_AGAIN = frozenset({69, 75})
"""What sysexits.h calls EX_UNAVAILABLE and EX_TEMPFAIL."""
MAX_FILES = 10_000
MAX_FOLDER_ENTRIES = 64 * 1024 * 1024
MAX_PROGRAM_BYTES = 64 * 1024 * 1024
MOVED = "put something else in the place of its folder"
ENDING_SECONDS = 5.0
"""Of an agent's time limit: to end it and to take what it has built."""


class CommandSettings(Struct, frozen=True):
    args: list[str] | None = None
    """May hold {prompt}, {prompt_file}, {answer_file}, {folder}; without the first two, the prompt comes on stdin."""
    environment: tuple[str, ...] = ()
    """Variables to hand on, besides the usual ones."""
    workspace: str | None = None
    """A folder of which each question gets a fresh copy to work in."""
    output: Literal["text", "files"] | None = None
    """Whether the answer is what it printed or what it left in the folder; by default text, files for programs."""
    answer: str | None = None
    """JMESPath to the answer, when the program prints JSON."""
    usage: dict[str, Any] | None = None
    memory_mb: int = 4096
    processes: int = 256
    sandbox: bool | None = None
    """Work in a place of its own, cut off from files and network: what an agent that builds a program does unless told
    otherwise, because the hidden tests are on this machine."""
    network: Literal["none", "host"] = "none"
    """Of the sandbox."""
    cache: bool = False
    """Take answers to the same request from the cache: whether what the program uses has changed cannot be seen."""


PROVIDER = Provider(
    "command",
    "A program that reads the prompt and writes an answer or files: command/./agent.sh",
    capabilities=Capabilities(images=True, documents=True),
    settings=CommandSettings.__struct_fields__,
)


class CommandModel:
    """Runs a program in a folder of its own for every question, and ends all of it afterwards."""

    def __init__(
        self,
        identity: ModelIdentity,
        program: str,
        settings: CommandSettings,
        environment: dict[str, str],
        target: Target,
    ) -> None:
        self.identity = identity
        self.is_cached = settings.cache
        self._program = program
        self._settings = settings
        self._args = settings.args or []
        self._environment = environment
        self._target = target
        self._found: Extraction | None = None
        if settings.answer or settings.usage:
            self._found = compile_extraction(PROVIDER.name, settings.answer, None, settings.usage)

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:  # noqa: ARG002
        if self._settings.sandbox:
            raise RequestRejectedError(f"{self._target.model}: 'sandbox' is for programs built from requirements")
        collects = self._settings.output == "files"
        return await self._work(prompt, {}, timeout_seconds, collects=collects)

    @property
    def unbounded(self) -> str:
        return "is a program, and nothing limits how much a program asks of others: leave it out"

    @property
    def is_free_agent(self) -> bool:
        """Whether it builds programs outside any sandbox."""
        return self._settings.sandbox is False

    async def build(
        self, prompt: Prompt, seed: Mapping[str, bytes], *, timeout_seconds: float, runner: Runner, hidden: Path
    ) -> Response:
        """Build a program in a folder that holds `seed`: what is new or changed there is the answer.

        When its time is up, or it passes another limit, it is ended, and what it has built until then counts. So does
        what it built before it failed; one that built nothing and failed is a fault. Outside a sandbox it does not see
        the folder `hidden`, where that can be had.
        """
        seconds = max(timeout_seconds - ENDING_SECONDS, timeout_seconds / 2)
        if self.is_free_agent:
            collects = self._settings.output != "text"
            return await self._work(prompt, seed, seconds, collects=collects, hidden=hidden)
        if any("{answer_file}" in arg for arg in self._args):
            raise RequestRejectedError(f"{self._target.model}: in a sandbox there is no {{answer_file}}")
        limits = ProcessLimits(seconds, self._settings.memory_mb, self._settings.processes)
        handed = {name: self._environment[name] for name in self._settings.environment}
        done = await work_in_place(Task(self._program, tuple(self._args), prompt.text, seed, handed, limits), runner)
        is_text = self._settings.output == "text"
        left = Left() if is_text else done.left
        if done.limit:
            return _cut_short(left, f"the agent was ended by its limit: {done.limit}", done.seconds)
        return self._built(done.finished, done.finished.stdout, left, done.seconds)

    def _built(self, finished: Finished, said: bytes, left: Left, seconds: float) -> Response:
        """What it left counts, however it ended; its own exit code is told beside it."""
        if not (left.files or left.refusal) or finished.exit_code in TRY_AGAIN:
            self._check(finished)
        if finished.exit_code == 0:
            return _response(left, self._read(said), seconds)
        try:
            read = self._read(said)
        except ModelError:  # it failed before it could say what it was to
            read = ("", Usage(), None)
        return _response(left, read, seconds, FinishReason.OTHER, f"the agent {_ending(finished.exit_code)}")

    async def _work(
        self,
        prompt: Prompt,
        seed: Mapping[str, bytes],
        timeout_seconds: float,
        *,
        collects: bool,
        hidden: Path | None = None,
    ) -> Response:
        """`hidden` is there when a program is built."""
        model = self._target.model
        has_folder = any("{folder}" in arg for arg in self._args)
        # Images are written into the folder, which is of use only to a program that is told about it.
        accepts = Accepts(images=has_folder, documents=has_folder, tools=False, schema=False)
        prompt = await prepare(prompt, accepts, model)
        text = prompt.text if has_folder else await plain_text(prompt, model)
        with tempfile.TemporaryDirectory(prefix="proctor-command-", ignore_cleanup_errors=True) as place:
            folder = await asyncio.to_thread(prepare_folder, Path(place), self._settings.workspace, prompt, seed)
            return await self._answer(text, folder.parent, folder, timeout_seconds, collects=collects, hidden=hidden)

    async def close(self) -> None:
        return None

    async def _answer(
        self, text: str, place: Path, folder: Path, timeout_seconds: float, *, collects: bool, hidden: Path | None
    ) -> Response:
        prompt_file, answer_file = place / "prompt.txt", place / "answer.txt"
        prompt_file.write_text(text, encoding="utf-8")
        words = {"{prompt_file}": str(prompt_file), "{answer_file}": str(answer_file), "{folder}": str(folder)}
        command = [self._program, *(_filled(arg, {**words, "{prompt}": text}) for arg in self._args)]
        command = command if hidden is None else [*without(hidden), *command]
        is_told = any("{prompt}" in arg or "{prompt_file}" in arg for arg in self._args)
        before = await asyncio.to_thread(stamps, folder)
        is_building = collects and hidden is not None
        started = time.perf_counter()
        try:
            stdin = b"" if is_told else text.encode()
            finished = await self._run(command, stdin, folder, timeout_seconds)
            said = finished.stdout if (own := written(answer_file)) is None else own
        except (TimeoutError, LimitExceededError) as error:
            is_late = isinstance(error, TimeoutError)
            why = f"gave no answer within {timeout_seconds:g} s" if is_late else f"{error}, and was ended"
            if is_building:
                left = await asyncio.to_thread(_program, folder, before)
                return _cut_short(left, f"the agent {why}", time.perf_counter() - started)
            kind = ProviderFaultError if is_late else UnusableAnswerError
            raise kind(f"{self._target.model} {why}") from None
        seconds = time.perf_counter() - started
        if is_building:
            return self._built(finished, said, await asyncio.to_thread(_program, folder, before), seconds)
        self._check(finished)
        left = await asyncio.to_thread(self._collect, folder, before) if collects else Left()
        return _response(left, self._read(said), seconds)

    async def _run(self, command: list[str], stdin: bytes, folder: Path, timeout_seconds: float) -> Finished:
        """To its end; TimeoutError or LimitExceededError where it was ended before."""
        limits = ProcessLimits(timeout_seconds, self._settings.memory_mb, self._settings.processes)
        try:
            command = [*without_network(), *command] if is_confined() else command
            return await run(command, stdin=stdin, folder=folder, environment=self._environment, limits=limits)
        except TimeoutError:
            raise
        except (OSError, ValueError) as error:
            raise RequestRejectedError(f"{self._target.model} cannot be started: {error}") from None

    def _check(self, finished: Finished) -> None:
        if finished.exit_code == 0:
            return
        code = finished.exit_code
        end = (finished.stderr or finished.stdout)[-2 * MAX_READ :].decode("utf-8", "replace")
        said = self._target.clean(self._target.hide(end)[-MAX_READ:])
        message = f"{self._target.model} {_ending(code)}" + (f": {said}" if said else "")
        raise self._fault(code, message)

    def _fault(self, exit_code: int, message: str) -> ModelError:
        return ProviderFaultError(message) if exit_code in TRY_AGAIN else RequestRejectedError(message)

    def _read(self, said: bytes) -> tuple[str, Usage, Decimal | None]:
        if self._found is None:
            return said.decode("utf-8", "replace"), Usage(), None
        document = parse_or_none(said)
        if document is None:
            raise RequestRejectedError(f"{self._target.model} was to print JSON, and did not")
        usage, cost = self._found.read_usage(document)
        return self._found.read_answer(document, self._target.model), usage, cost

    def _collect(self, folder: Path, before: Stamps) -> Left:
        """The files that are new or changed, by their path in the folder; links are not followed."""
        if not is_in_its_place(folder):
            raise UnusableAnswerError(f"{self._target.model} {MOVED}")
        sizes, left_out = changed(folder, before)
        if len(sizes) > MAX_FILES or sum(sizes.values()) > MAX_FOLDER_ENTRIES:
            most = f"{MAX_FILES} files or {MAX_FOLDER_ENTRIES // 2**20} MB"
            raise UnusableAnswerError(f"{self._target.model} left more than {most} behind")
        try:
            files = {name: content(folder / name) for name in sizes}
        except PermissionError as error:
            raise UnusableAnswerError(f"{self._target.model} {_unreadable(error, folder)}") from None
        return Left(files, left_out=dict(islice(left_out.items(), MAX_TOLD)))


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> CommandModel:
    given = read_settings(CommandSettings, settings, PROVIDER.name)
    if not name:
        raise PlanError("command needs a program: write command/./agent.sh, for example.")
    if given.memory_mb < 1 or given.processes < 1:
        raise PlanError("command: 'memory_mb' and 'processes' must be at least 1.")
    if given.workspace is not None:
        workspace = (folder / given.workspace).resolve()
        if not workspace.is_dir():
            raise NotFoundError(f"command/{name}: there is no folder {given.workspace!r} to work in.")
        settings = {**settings, "workspace": str(workspace)}
        given = read_settings(CommandSettings, settings, PROVIDER.name)
    if given.network == "host" and given.sandbox:
        raise PlanError(f"command/{name}: no sandbox has a network: leave out either 'sandbox' or 'network=host'.")
    program = _find(name, folder, environment)
    if is_confined():
        refuse_unless_cut_off(f"command/{name}")
    missing = [variable for variable in given.environment if not environment.get(variable)]
    if missing:
        raise UserError(f"command/{name} is to be given {', '.join(missing)}, which is not set.")
    handed = {variable: environment[variable] for variable in USUAL_VARIABLES if variable in environment}
    handed.update({variable: environment[variable] for variable in given.environment})
    target = Target(f"command/{name}", None, tuple(environment[variable] for variable in given.environment))
    version = f"{ADAPTER_VERSION};program={_digest(program)}"
    version = version_of(version, given, "args", "workspace", "output", "answer", "sandbox")
    return CommandModel(ModelIdentity("command", name, None, version), program, given, handed, target)


def _find(name: str, folder: Path, environment: Mapping[str, str]) -> str:
    """The program's full path: a relative one in the working folder, a bare name on PATH."""
    if "/" in name:
        program = (folder / name).resolve()
        if not program.is_file():
            raise NotFoundError(f"command/{name}: there is no program {name} in {folder}.")
        found = shutil.which(str(program))
        if found is None:
            raise UserError(f"command/{name}: {name} may not be executed; run: chmod +x {name}")
        return found
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        advice = f"For one in this folder write command/./{name}."
        raise NotFoundError(f"command/{name}: no program {name!r} on PATH. {advice}")
    return found


def _digest(program: str) -> str:
    """Another program may answer otherwise, so it is another model to the cache."""
    path = Path(program).resolve()
    content = path.read_bytes() if path.stat().st_size <= MAX_PROGRAM_BYTES else str(path.stat()).encode()
    return blake2b(content, digest_size=8).hexdigest()


def _response(
    left: Left,
    read: tuple[str, Usage, Decimal | None],
    seconds: float,
    finish: FinishReason = FinishReason.STOP,
    note: str | None = None,
) -> Response:
    text, usage, cost = read
    return Response(
        f"{text}\n{left.refusal}".strip() if left.refusal else text,
        finish,
        usage,
        files=left.files,
        latency_seconds=seconds,
        cost_usd=cost,
        cost_basis=reported(cost),
        note=note,
        left_out=left.left_out,
    )


def _cut_short(left: Left, note: str, seconds: float) -> Response:
    return _response(left, ("", Usage(), None), seconds, FinishReason.LENGTH, note)


def _ending(exit_code: int) -> str:
    return f"exited with {exit_code}" if exit_code > 0 else f"was ended by signal {-exit_code}"


def _program(folder: Path, before: Stamps) -> Left:
    """The program that was built there, or nothing and why: too much is an answer that cannot be read, not a fault."""
    if not is_in_its_place(folder):
        return Left(refusal=f"The agent {MOVED}: nothing was taken.")
    new, left_out = changed(folder, before)
    sizes = {name: size for name, size in new.items() if left_by(name) is None}
    if refusal := too_much(sizes):
        return Left(refusal=refusal)
    try:
        files = {name: content(folder / name) for name in sizes}
    except PermissionError as error:
        return Left(refusal=f"The agent {_unreadable(error, folder)}: nothing was taken.")
    return Left(files, left_out=told(new, left_out))


def _unreadable(error: PermissionError, folder: Path) -> str:
    return f"left {Path(error.filename).relative_to(folder)} behind, which may not be read"


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
