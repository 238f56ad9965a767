"""`proctor sandbox`: see it work; and the table of `proctor doctor --sandbox`."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from proctor.cli.echo import echo
from proctor.cli.options import as_json
from proctor.cli.sandbox_images import image

if TYPE_CHECKING:
    from proctor.domain.sandbox import SandboxLimits, SandboxResult
    from proctor.sandboxes.probe import ProbeFinding

LANGUAGES = {".py": "python", ".js": "javascript", ".mjs": "javascript"}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*(?:([kmg])(?:i?b)?|b)?", re.IGNORECASE)
MAX_SECONDS = 86_400.0
MIN_MEMORY = 16 << 20
"""An interpreter that runs nothing yet has about as much: a lower limit would not be the one that holds."""


def read_bytes(text: str) -> int:
    """'512m', '2g', '64 MiB' or plain bytes; the units are powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is not a size: write 512m or 2g")
    value = float(match[1]) * _UNITS[(match[2] or "").lower()]
    if not 1 <= value < 1 << 50:
        raise click.BadParameter(f"{text!r} is out of range: give 1 byte or more, and less than 1 PiB")
    return int(value)


def _seconds(_context: click.Context, _option: click.Parameter, value: float) -> float:
    if not 0 < value <= MAX_SECONDS:  # which no number that is none is, either
        raise click.BadParameter(f"{value:g} is out of range: give more than 0 and at most 86,400 seconds (a day)")
    return value


class _Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ARG002
        return value if isinstance(value, int) else read_bytes(str(value))


def _memory(_context: click.Context, _option: click.Parameter, value: int) -> int:
    if value < MIN_MEMORY:
        raise click.BadParameter(
            f"it must be at least {MIN_MEMORY >> 20}m, because an interpreter alone needs about as much"
        )
    return value


@click.group(short_help="Run a program in the sandbox.")
def sandbox() -> None:
    """Run untrusted code with resource limits, isolated from files, network and other processes."""


sandbox.add_command(image)


@sandbox.command("run")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1)
@click.option(
    "--backend", help="namespaces, bubblewrap, nsjail, firejail, docker, podman; the first that works by default."
)
@click.option(
    "--memory",
    type=_Size(),
    default="512m",
    show_default=True,
    callback=_memory,
    help="Memory limit, such as 256m or 2g; at least 16m.",
)
@click.option(
    "--seconds",
    type=float,
    default=10.0,
    show_default=True,
    callback=_seconds,
    help="Limit of wall-clock time and of CPU time, in seconds.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 4096),
    default=32,
    show_default=True,
    help="Maximum number of processes and threads.",
)
@click.option("--disk", type=_Size(), default="64m", show_default=True, help="Size of its private /tmp.")
@click.option("--output", type=_Size(), default="1m", show_default=True, help="Maximum size of its output.")
@click.option("--unsafe-no-sandbox", is_flag=True, help="Run without any isolation, as yourself.")
@as_json
def run_file(
    file: Path,
    arguments: tuple[str, ...],
    backend: str | None,
    memory: int,
    seconds: float,
    processes: int,
    disk: int,
    output: int,
    unsafe_no_sandbox: bool,
    as_json: bool,
) -> None:
    """Run FILE (Python or JavaScript) in the sandbox; standard input is passed on, the exit code is the program's."""
    from proctor.domain.errors import UserError
    from proctor.domain.sandbox import Program, SandboxLimits

    language = LANGUAGES.get(file.suffix)
    if language is None:
        raise UserError(f"{file} is neither Python (.py) nor JavaScript (.js).")
    try:
        source = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not text in UTF-8: {error}") from error
    stdin = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    limits = SandboxLimits(
        wall_seconds=seconds,
        cpu_seconds=seconds,
        memory_bytes=memory,
        processes=processes,
        disk_bytes=disk,
        output_bytes=output,
    )
    program = Program(source, language=language, arguments=arguments, stdin=stdin)
    done = asyncio.run(_run(program, limits, backend, is_unsafe=unsafe_no_sandbox))
    _show(done, as_json=as_json)
    raise click.exceptions.Exit(done.exit_code if done.exit_code is not None else 1)


async def _run(program: Any, limits: SandboxLimits, backend: str | None, *, is_unsafe: bool) -> SandboxResult:
    from proctor.sandboxes.backends import choose

    chosen = await choose(backend, is_unsafe=is_unsafe, parallel=1)
    if not chosen.is_isolated:
        echo("WARNING: no sandbox: this program runs as you, with your files and your network.", err=True)
    try:
        return await chosen.run(program, limits)
    finally:
        await chosen.close()


def _show(done: SandboxResult, *, as_json: bool) -> None:
    if as_json:
        from proctor.cli.context import print_json

        texts = {"stdout": done.stdout.decode(errors="replace"), "stderr": done.stderr.decode(errors="replace")}
        print_json({**asdict(done), **texts, "files": sorted(done.files)})
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(done.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(done.stderr)
    ending = f"exit code {done.exit_code}" if done.ending == "exited" else str(done.ending)
    tried = "".join(f", refused {name} x{count}" for name, count in done.violations.items())
    echo(f"[{done.sandbox['backend']}] {ending} after {done.spent.seconds:.2f} s{tried}", err=True)


async def sandbox_findings(names: list[str] | None = None) -> dict[str, list[ProbeFinding]]:
    """What every backend holds here; one that is absent has the single finding that says why."""
    from proctor.domain.errors import SandboxError
    from proctor.sandboxes.backends import create, isolating
    from proctor.sandboxes.probe import ProbeFinding, probe

    found: dict[str, list[ProbeFinding]] = {}
    for name in names or isolating():
        try:
            made = create(name)
        except SandboxError as error:
            found[name] = [ProbeFinding("runs", None, str(error))]
            continue
        try:
            found[name] = await probe(made)
        finally:
            await made.close()
    return found


def sandbox_report(names: list[str] | None = None, *, as_json: bool = False) -> bool:
    """Print the table of `proctor doctor --sandbox`; True when at least one backend holds everything it offers."""
    found = asyncio.run(sandbox_findings(names))
    if as_json:
        from proctor.cli.context import print_json

        print_json({name: [asdict(finding) for finding in findings] for name, findings in found.items()})
    else:
        _print_table(found)
    return any(
        len(findings) > 1 and all(finding.holds is not False for finding in findings) for findings in found.values()
    )


def _print_table(found: dict[str, list[ProbeFinding]]) -> None:
    from proctor.sandboxes.probe import ASPECTS

    echo("backend     " + " ".join(f"{aspect:<11}" for aspect in ASPECTS))
    marks = {True: "holds", False: "LEAKS", None: "-"}
    for name, findings in found.items():
        by_aspect = {finding.aspect: finding for finding in findings}
        cells = [marks[by_aspect[aspect].holds] if aspect in by_aspect else "-" for aspect in ASPECTS]
        echo(f"{name:<12}" + " ".join(f"{cell:<11}" for cell in cells))
    for name, findings in found.items():
        for finding in findings:
            if not finding.holds:
                echo(f"{name}, {finding.aspect}: {finding.detail}", err=True)
