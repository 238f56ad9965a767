"""pip and npm as their user has set them up: where packages come from, and nothing else of the environment."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import shutil
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from proctor.programs.tools.running import ToolError, module, run_tool

INSTALL_SECONDS = 300.0
INSTALL_BYTES = 1 << 30
"""What a tool may write while it installs: archives, its cache, and what it unpacks."""
_LOOK_SECONDS = 0.25
T = TypeVar("T")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_SOURCES = ("index-url", "extra-index-url", "find-links", "no-index")
_CONNECTING = ("trusted-host", "cert", "client-cert", "proxy", "timeout", "default-timeout")
_SETTING = re.compile(r"^(?P<section>[^.]+)\.(?P<name>[a-z-]+)=(?P<value>.*)$")
_SECTIONS = ("global", "download", ":env:")
"""Whose word counts, the last one's most."""


def proxies() -> dict[str, str]:
    names = (*_PROXIES, *map(str.lower, _PROXIES))
    return {name: os.environ[name] for name in names if name in os.environ}


class PipSettings:
    """What `pip config list` says of where packages are and how to get there."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.sources = {name: values[name] for name in _SOURCES if values.get(name)}
        self.connecting = {name: values[name] for name in _CONNECTING if values.get(name)}


async def read_pip_settings(folder: Path) -> PipSettings:
    """As pip itself reads its files and variables when its user runs it."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
        if name in os.environ:
            kept[name] = os.environ[name]
    command = module("pip", "--disable-pip-version-check", "config", "list")
    code, out, err = await run_tool(tuple(word for word in command if word != "-I"), folder, environment=kept)
    if code != 0:
        raise ToolError(f"pip does not say how it is set up: {err.decode('utf-8', 'replace').strip()[-300:]}")
    found: dict[str, dict[str, str]] = {}
    for line in out.decode("utf-8", "replace").splitlines():
        if match := _SETTING.match(line):
            found.setdefault(match["section"], {})[match["name"]] = str(ast.literal_eval(match["value"]))
    values: dict[str, str] = {}
    for section in _SECTIONS:
        values |= found.get(section, {})
    return PipSettings(values)


async def read_npm_registry(folder: Path) -> str | None:
    """The registry that npm's user has chosen; None where it is nobody's choice but npm's."""
    path = shutil.which("npm")
    if path is None:
        raise ToolError("npm is needed to install packages; install it beside Proctor")
    kept = {name: value for name, value in os.environ.items() if name.lower().startswith("npm_config_")}
    kept |= {"PATH": os.environ.get("PATH", os.defpath)}
    if "HOME" in os.environ:
        kept["HOME"] = os.environ["HOME"]
    command = (path, "config", "list", f"--cache={folder / '.npm'}")  # or it leaves a log in its user's home
    code, out, err = await run_tool(command, folder, environment=kept, memory_bytes=None)
    if code != 0:
        raise ToolError(f"npm does not say how it is set up: {err.decode('utf-8', 'replace').strip()[-300:]}")
    # What is nobody's choice is not listed.
    chosen = re.findall(r'^registry = "(https?://[^"\s]+)"', out.decode("utf-8", "replace"), re.MULTILINE)
    return chosen[0] if chosen else None


def npm_user_settings() -> Path:
    """Where npm's user keeps the keys of a registry."""
    given = next((value for name, value in os.environ.items() if name.lower() == "npm_config_userconfig"), None)
    return Path(given) if given else Path.home() / ".npmrc"


async def run_confined(
    command: Sequence[str],
    folder: Path,
    *,
    environment: Mapping[str, str],
    memory_bytes: int | None,
    disk_bytes: int = INSTALL_BYTES,
) -> tuple[int, bytes, bytes]:
    """Run a tool that sees none of our environment and, where bubblewrap is there, can write to this folder only.

    ToolError when it takes too long, or writes too much.
    """
    wrapper = _bubblewrap(str(folder))

    def run(words: Sequence[str]) -> Coroutine[Any, Any, tuple[int, bytes, bytes]]:
        return run_tool(words, folder, INSTALL_SECONDS, environment=environment, memory_bytes=memory_bytes)

    done = await _within(disk_bytes, folder, run((*wrapper, *command)))
    if wrapper and done[0] != 0 and done[2].startswith(b"bwrap:"):  # not allowed here, as in many containers
        return await _within(disk_bytes, folder, run(command))
    return done


async def _within(most: int, folder: Path, running: Coroutine[Any, Any, T]) -> T:
    """What it gives; it is ended, and ToolError raised, once the folder holds more than this."""
    tool = asyncio.create_task(running)
    try:
        while not tool.done():
            await asyncio.wait([tool], timeout=_LOOK_SECONDS)
            if await asyncio.to_thread(_holds_more_than, most, folder):
                raise ToolError(f"it wrote more than {most >> 20:,} MiB")
        return tool.result()
    finally:
        tool.cancel()
        await asyncio.wait([tool])


def _holds_more_than(most: int, folder: Path) -> bool:
    """Every file counts a kilobyte at least: empty ones fill a disk, too."""
    held = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # a tool moves its files about
                held += max(1024, os.lstat(Path(where) / name).st_size)
            if held > most:
                return True
    return False


def _bubblewrap(folder: str) -> tuple[str, ...]:
    path = _bubblewrap_path()
    if path is None:
        return ()
    whole = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder, "--chdir", folder)
    return (path, *whole, "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--")


@cache
def _bubblewrap_path() -> str | None:
    return shutil.which("bwrap")
