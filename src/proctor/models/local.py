"""A real small language model on this machine: no key, no network once its weights are here."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proctor.domain.errors import ModelUnavailableError, ProviderFaultError, UserError
from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Response
from proctor.models.chat import ChatDialect
from proctor.models.faults import Target
from proctor.models.hosted import HostedModel
from proctor.models.local_weights import find_weights
from proctor.models.provider import Capabilities, Provider
from proctor.models.settings import read_settings, version_of
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"
START_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Settings:
    threads: int | None = None
    """Processor threads; as many as cores are idle if left out."""
    parallel: int = 2
    """Requests worked on at once."""
    context: int = 2048
    """Tokens of prompt and answer together."""


PROVIDER = Provider(
    "local",
    "A real small model on this machine: local/smollm2-135m, or local/FILE.gguf",
    capabilities=Capabilities(streaming=True, logprobs=True, structured_output=True),
    settings=tuple(field.name for field in fields(Settings)),
)


class LocalModel:
    """Starts a server when first asked, asks it over loopback, and ends it."""

    def __init__(self, identity: ModelIdentity, path: Path, settings: Settings) -> None:
        self.identity = identity
        self.most_at_once = settings.parallel
        self._path = path
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._inner: HostedModel | None = None
        self._starting = asyncio.Lock()

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        async with self._starting:
            if self._process is not None and self._process.poll() is not None:
                await self._end()
            if self._inner is None:
                self._inner = await self._start()
        try:
            return await self._inner.respond(prompt, options, timeout_seconds=timeout_seconds)
        except ProviderFaultError as error:
            if self._process is not None and self._process.poll() is not None:
                raise ProviderFaultError(
                    f"the local server ended ({self._process.returncode}); it is started anew"
                ) from error
            raise

    async def close(self) -> None:
        await self._end()

    async def _start(self) -> HostedModel:
        address = ""
        try:
            async with asyncio.timeout(START_SECONDS):
                address = await asyncio.to_thread(self._launch)
        except TimeoutError:
            pass
        if not address.startswith("http://127.0.0.1:"):
            await self._end()
            raise ModelUnavailableError(f"the local server for {self._path.name} did not start: too little memory?")
        url = f"{address}/v1/chat/completions"
        target = Target(f"local/{self.identity.name}")
        return HostedModel(self.identity, Transport(target), ChatDialect("max_tokens"), url=url, headers={})

    def _launch(self) -> str:
        """Start the server; its first line says where it listens, once it is ready."""
        arguments = [str(self._path), str(_threads(self._settings)), str(self._settings.parallel)]
        command = [sys.executable, "-m", "proctor.models.local_server", *arguments, str(self._settings.context)]
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return self._process.stdout.readline().strip() if self._process.stdout is not None else ""

    async def _end(self) -> None:
        process, self._process = self._process, None
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.close()
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        try:
            await asyncio.to_thread(process.wait, 5)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)


def _threads(settings: Settings) -> int:
    """More threads than idle cores make llama.cpp's workers wait for each other: many times slower than one."""
    if settings.threads is not None:
        return settings.threads
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, round(cores - busy))


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> LocalModel:
    given = read_settings(Settings, settings, PROVIDER.name)
    if find_spec("xllamacpp") is None:
        raise UserError("local/… needs a runtime: pip install 'proctor[local]'")
    home = Path(environment.get("PROCTOR_HOME") or Path("~/.proctor").expanduser())
    path = find_weights(name, home / "models", folder)
    version = version_of(ADAPTER_VERSION, given, "context")
    return LocalModel(ModelIdentity(PROVIDER.name, name, None, f"{version}:{path.stem[-12:]}"), path, given)
