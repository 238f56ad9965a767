"""pip and npm as their user has set them up: where packages come from, and nothing else of the environment."""

from __future__ import annotations

import ast
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from proctor.programs.tools.running import ToolError, module, run_tool

INSTALL_SECONDS = 300.0
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
    code, out, err = await run_tool((path, "config", "list"), folder, environment=kept, memory_bytes=None)
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
) -> tuple[int, bytes, bytes]:
    """Run a tool that sees none of our environment and, where bubblewrap is there, can write to this folder only."""
    confined = (*_bubblewrap(str(folder)), *command)
    done = await run_tool(confined, folder, INSTALL_SECONDS, environment=environment, memory_bytes=memory_bytes)
    if confined[0] != command[0] and done[0] != 0 and done[2].startswith(b"bwrap:"):
        return await run_tool(command, folder, INSTALL_SECONDS, environment=environment, memory_bytes=memory_bytes)
    return done


def _bubblewrap(folder: str) -> tuple[str, ...]:
    path = _bubblewrap_path()
    if path is None:
        return ()
    whole = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder, "--chdir", folder)
    return (path, *whole, "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--")


@cache
def _bubblewrap_path() -> str | None:
    return shutil.which("bwrap")
