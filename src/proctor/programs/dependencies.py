"""Third-party packages: only those the problem allows, fetched outside as wheels, unpacked inside without a network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.domain.errors import ScorerError
from proctor.domain.problem import Problem
from proctor.programs.options import MarkOptions
from proctor.programs.tools.running import ToolError, installed, module, run_tool
from proctor.programs.tools.scratch import scratch

DOWNLOAD_SECONDS = 300.0
FILE = "requirements.txt"
_SILENT = ("(from versions: none)", "connection broken by", "is not a trusted or secure host", "HTTP error ")
"""What pip says when a source is empty, cannot be reached, or refuses."""
_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-.+\.whl$")


class BuildError(Exception):
    """The program cannot be built, and that is its own doing."""


@dataclass(frozen=True, slots=True)
class Wheels:
    files: Mapping[str, bytes]
    """By file name."""

    @property
    def pins(self) -> tuple[str, ...]:
        found = (_WHEEL.match(name) for name in sorted(self.files))
        return tuple(f"{match['name'].replace('_', '-')}=={match['version']}" for match in found if match)


def wanted(files: Mapping[str, bytes], allowed: Sequence[str]) -> tuple[str, ...]:
    """The packages a program asks for; one the problem does not allow is a BuildError."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    permitted = {canonicalize_name(Requirement(name).name) for name in allowed}
    found = []
    for number, raw in enumerate(files.get(FILE, b"").decode("utf-8", "replace").splitlines(), 1):
        line = raw.partition(" #")[0].strip()
        if not line or line.startswith("#"):
            continue
        try:
            one = Requirement(line)
        except (InvalidRequirement, RecursionError):
            raise BuildError(f"{FILE}:{number}: {line[:80]!r} is not the name of a package with its versions") from None
        if one.url or canonicalize_name(one.name) not in permitted:
            may = f"it allows {', '.join(sorted(permitted))}" if permitted else "it allows none"
            raise BuildError(f"{FILE}:{number}: the problem does not allow the package {one.name!r}; {may}")
        found.append(str(one))
    return tuple(found)


async def fetched(problem: Problem, files: Mapping[str, bytes], options: MarkOptions, python: str) -> Wheels:
    """The wheels for the workspace's Python, with all they need; none is built from source, so none of their code runs.

    A version that does not exist is the program's mistake; a source that is missing, silent or empty is nobody's mark.
    """
    names = wanted(files, problem.dependencies)
    if not names:
        return Wheels({})
    if options.wheelhouse is None and options.index_url is None:
        raise ScorerError(
            f"The program needs {', '.join(names)}, which {problem.id} allows, and there is neither a wheelhouse nor a "
            "package index to take it from: give one (--wheelhouse DIR or --index URL; for a run, "
            "'requirements?wheelhouse=DIR' or '?index=URL')."
        )
    if installed("pip") is None:
        raise ScorerError("pip is needed to download packages; install it beside Proctor.")
    with scratch() as folder:
        (folder / FILE).write_text("\n".join(names), encoding="utf-8")
        source = _source(options)
        command = module(
            *("pip", "download", "--isolated", "--disable-pip-version-check", "--no-input", "--no-cache-dir"),
            *("--only-binary=:all:", f"--python-version={python}", "--dest", str(folder / "wheels")),
            *source,
            *("-r", str(folder / FILE)),
        )
        try:
            code, _, err = await run_tool(command, folder, DOWNLOAD_SECONDS)
        except ToolError as error:
            raise ScorerError(f"Packages could not be downloaded: {error}") from error
        if code != 0:
            raise _refused(names, err.decode("utf-8", "replace").strip())
        return Wheels({path.name: path.read_bytes() for path in sorted((folder / "wheels").glob("*.whl"))})


def _refused(names: Sequence[str], said: str) -> BuildError | ScorerError:
    """Whose doing it is that pip found nothing; only the user's sources can make it say what is looked for here."""
    if any(words in said for words in _SILENT):
        return ScorerError(
            f"The source of packages has nothing for {', '.join(names)}, or does not answer: {said[-800:]}"
        )
    return BuildError(f"no wheels for {', '.join(names)}: {said[-800:]}")


def _source(options: MarkOptions) -> tuple[str, ...]:
    links = ("--find-links", str(options.wheelhouse.resolve())) if options.wheelhouse is not None else ()
    return (*links, "--index-url", options.index_url) if options.index_url is not None else (*links, "--no-index")
