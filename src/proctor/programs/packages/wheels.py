"""Python packages: downloaded outside as wheels, so that none of their code runs there."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from proctor.domain.errors import PackageSourceError
from proctor.programs.options import MarkOptions
from proctor.programs.packages.operator_tools import PipSettings, proxies, read_pip_settings, run_confined
from proctor.programs.packages.package_set import MAX_PACKED_BYTES, BuildError, PackageSet
from proctor.programs.packages.requirements import FILE, LockedRequirement
from proctor.programs.tools.running import MEMORY_BYTES, ToolError, installed, module
from proctor.programs.tools.scratch import scratch

_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-.+\.whl$")


class WheelSource:
    """Where wheels come from: the wheelhouse and index of these options, else the index of pip's user."""

    def __init__(self, options: MarkOptions, settings: PipSettings) -> None:
        if options.wheelhouse is None and options.index_url is None:
            chosen = dict(settings.sources)
        else:
            house = str(options.wheelhouse.resolve()) if options.wheelhouse is not None else None
            chosen = {"find-links": house} if house else {}
            chosen |= {"index-url": options.index_url} if options.index_url else {"no-index": "1"}
        self.is_chosen = bool(chosen.keys() - {"no-index"})
        self._settings = {**settings.connecting, **chosen}

    @property
    def identity(self) -> list[str]:
        """Changes where other packages could come from it."""
        return [f"{name}={value}" for name, value in sorted(self._settings.items())]

    def environment(self) -> dict[str, str]:
        """Settings as variables, which other users of the machine cannot read; no file of pip's is read."""
        named = {f"PIP_{name.replace('-', '_').upper()}": value for name, value in self._settings.items()}
        return {**proxies(), **named, "PIP_CONFIG_FILE": os.devnull}


async def wheel_source(options: MarkOptions) -> WheelSource:
    if installed("pip") is None:
        raise PackageSourceError("pip is needed to download packages; install it beside Proctor.")
    try:
        with scratch() as folder:
            return WheelSource(options, await read_pip_settings(folder))
    except ToolError as error:
        raise PackageSourceError(f"Packages could not be downloaded: {error}") from error


async def download_wheels(wanted: Sequence[LockedRequirement], source: WheelSource, python: str) -> PackageSet:
    """The wheels for the workspace's Python, with all they need; none is built from source.

    A source that has nothing of the named packages, or does not answer, is no fault of the program's.
    """
    code, said, found = await _download([one.line for one in wanted], source, python)
    if code == 0:
        if found.packed_bytes > MAX_PACKED_BYTES:
            raise BuildError(f"the packages have {found.packed_bytes:,} bytes; at most {MAX_PACKED_BYTES:,} are used")
        return found
    # Whatever the program wrote, these names are the problem's own: without them the source is to blame.
    names = sorted({one.name for one in wanted})
    control, why, _ = await _download(names, source, python, "--no-deps")
    if control == 0:
        raise BuildError(f"no wheels for {', '.join(one.pinned for one in wanted)}: {said[-800:]}")
    raise PackageSourceError(
        f"The source of packages has nothing for {', '.join(names)}, or does not answer: {why[-800:]}"
    )


async def _download(
    lines: Sequence[str], source: WheelSource, python: str, *options: str
) -> tuple[int, str, PackageSet]:
    with scratch() as folder:
        (folder / FILE).write_text("\n".join(lines), encoding="utf-8")
        wheels = folder / "wheels"
        command = module(
            *("pip", "download", "--disable-pip-version-check", "--no-input", "--no-cache-dir", "--retries=1"),
            *("--only-binary=:all:", f"--python-version={python}", "--dest", str(wheels), *options),
            *("-r", str(folder / FILE)),
        )
        try:
            code, _, err = await run_confined(
                command, folder, environment=source.environment(), memory_bytes=MEMORY_BYTES
            )
        except ToolError as error:
            return 1, f"pip: {error}", PackageSet({}, ())
        return code, err.decode("utf-8", "replace").strip(), _packed(wheels)


def _packed(folder: Path) -> PackageSet:
    files = {path.name: path for path in sorted(folder.glob("*.whl"))}
    if sum(path.stat().st_size for path in files.values()) > 2 * MAX_PACKED_BYTES:
        raise BuildError(f"the packages have more than {2 * MAX_PACKED_BYTES:,} bytes")
    matches = (_WHEEL.match(name) for name in files)
    pins = tuple(f"{match['name'].replace('_', '-')}=={match['version']}" for match in matches if match)
    return PackageSet({name: path.read_bytes() for name, path in files.items()}, pins)
