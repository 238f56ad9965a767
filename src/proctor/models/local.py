"""A real small language model on this machine: no key, and no network once its weights are here."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from proctor.domain.errors import ModelUnavailableError, ProviderFaultError, UserError
from proctor.domain.identity import digest
from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Response
from proctor.models.chat import ChatDialect
from proctor.models.faults import Target
from proctor.models.hosted import HostedModel
from proctor.models.local_weights import digest_of, find_weights
from proctor.models.parts import Accepts
from proctor.models.provider import Capabilities, Provider
from proctor.models.settings import read_settings, version_of
from proctor.models.shared_server import SharedServer, is_listening
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"
START_SECONDS = 180
END_SECONDS = 1.0
"""How long the end of a server is waited for that others may still use."""
SERVERS = "servers"
"""The folder beside the weights with what processes tell each other of servers that run."""


class LocalSettings(Struct, frozen=True):
    threads: int | None = None
    """Processor threads; as many as cores are idle if left out."""
    parallel: int = 2
    """Requests worked on at once."""
    context: int = 2048
    """Tokens of prompt and answer together."""


ACCEPTS = Accepts(images=False, documents=False, tools=False)
PROVIDER = Provider(
    "local",
    "A real small model on this machine: local/smollm2-135m, or local/FILE.gguf",
    capabilities=Capabilities(streaming=True, logprobs=True, structured_output=True),
    is_free=True,
    has_uniform_models=True,
    settings=LocalSettings.__struct_fields__,
)


class LocalServer:
    """The process that holds the weights; all who use them with the same settings share it, on the whole machine."""

    def __init__(self, name: str, cache: Path, folder: Path, settings: LocalSettings) -> None:
        self._name, self._cache, self._folder, self._settings = name, cache, folder, settings
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._shared: SharedServer | None = None
        self._address = ""
        self._users = 0

    @property
    def has_ended(self) -> bool:
        if self._process is not None:
            return self._process.poll() is not None
        return not self._address or not is_listening(self._address)

    def join(self) -> None:
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        """The last one out lets go of the process, which ends unless others use it."""
        with self._lock:
            self._users -= 1
            if self._users <= 0:
                self._end()

    def address(self) -> str:
        """Where it listens; started, or started anew, when it does not run."""
        with self._lock:
            if self.has_ended:
                path = find_weights(self._name, self._cache, self._folder)
                if self._shared is None:
                    self._shared = SharedServer(self._cache / SERVERS, self._key(), partial(self._launch, path))
                self._address = self._shared.join()
            return self._address

    def _key(self) -> str:
        return digest([digest_of(self._name, self._folder), *astuple(self._settings)])

    def _launch(self, path: Path, users: Path) -> tuple[int, str]:
        settings = self._settings
        arguments = [str(users), str(path), str(_threads(settings)), str(settings.parallel), str(settings.context)]
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", "proctor.models.local_server", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # others go on with it when this process is interrupted
        )
        late = threading.Timer(START_SECONDS, process.kill)
        late.start()
        try:
            line = process.stdout.readline().strip() if process.stdout is not None else ""
        finally:
            late.cancel()
            if process.stdout is not None:
                process.stdout.close()
        if not line.startswith("http://127.0.0.1:"):
            process.kill()
            process.wait()
            raise ModelUnavailableError(f"the local server for {path.name} did not start: too little memory?")
        self._process = process
        return process.pid, line

    def _end(self) -> None:
        shared, self._shared = self._shared, None
        self._address = ""
        if shared is not None:
            shared.leave()
        process, self._process = self._process, None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):  # others use it, and it outlives whoever started it
                process.wait(END_SECONDS)


class LocalModel:
    """Asks the server over loopback; the server is started when the first question comes."""

    runs_locally = True

    def __init__(self, identity: ModelIdentity, server: LocalServer, max_concurrency: int) -> None:
        self.identity = identity
        self.max_concurrency = max_concurrency
        self._server = server
        self._inner: HostedModel | None = None
        self._address: str | None = None
        self._has_joined = False

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        if not self._has_joined:
            self._has_joined = True
            self._server.join()
        inner = await self._connected()
        try:
            return await inner.respond(prompt, options, timeout_seconds=timeout_seconds)
        except ProviderFaultError as error:
            if self._server.has_ended:
                raise ProviderFaultError("the local server ended in the middle; it is started anew") from error
            raise

    async def close(self) -> None:
        if self._inner is not None:
            await self._inner.close()
            self._inner = self._address = None
        if self._has_joined:
            self._has_joined = False
            await asyncio.to_thread(self._server.leave)

    async def _connected(self) -> HostedModel:
        address = await asyncio.to_thread(self._server.address)
        if self._inner is None or address != self._address:
            target = Target(f"local/{self.identity.name}")
            url = f"{address}/v1/chat/completions"
            self._address, before = address, self._inner
            self._inner = inner = HostedModel(
                self.identity, Transport(target), ChatDialect("max_tokens"), url=url, headers={}, accepts=ACCEPTS
            )
            if before is not None:
                await before.close()
            return inner
        return self._inner


def _threads(settings: LocalSettings) -> int:
    """More threads than idle cores make llama.cpp's workers wait for each other: many times slower than one."""
    if settings.threads is not None:
        return settings.threads
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, round(cores - busy))


_server = cache(LocalServer)


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> LocalModel:
    given = read_settings(LocalSettings, settings, PROVIDER.name)
    if find_spec("xllamacpp") is None:
        raise UserError("local/… needs a runtime: pip install 'proctor[local]'")
    home = Path(environment.get("PROCTOR_HOME") or Path("~/.proctor").expanduser())
    version = version_of(ADAPTER_VERSION, given, "context")
    identity = ModelIdentity(PROVIDER.name, name, None, f"{version}:{digest_of(name, folder)[:16]}")
    return LocalModel(identity, _server(name, home / "models", folder, given), given.parallel)
