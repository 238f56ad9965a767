"""The packages of a program, from what is kept or from its user's index or registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.errors import ScorerError
from proctor.domain.problem import Problem
from proctor.programs.options import MarkOptions
from proctor.programs.packages.kept import kept_or_fetched
from proctor.programs.packages.npm import install_npm_packages, npm_registry
from proctor.programs.packages.npm_lock import read_npm_lock, read_npm_names
from proctor.programs.packages.package_set import NO_PACKAGES, PackageSet
from proctor.programs.packages.requirements import read_requirements
from proctor.programs.packages.wheels import download_wheels, wheel_source

_NO_INDEX = (
    "there is neither a wheelhouse nor a package index to take it from: give one (--wheelhouse DIR or --index URL; for "
    "a run, 'requirements?wheelhouse=DIR' or '?index=URL'), or set pip's own (PIP_INDEX_URL)."
)
_NO_REGISTRY = (
    "npm has no registry set to take it from: set one (NPM_CONFIG_REGISTRY, or 'npm config set registry URL')."
)


async def fetch_wheels(problem: Problem, files: Mapping[str, bytes], options: MarkOptions, python: str) -> PackageSet:
    """What requirements.txt pins, for this version of Python.

    BuildError where that is the program's mistake, PackageSourceError where it is the source's; ScorerError where the
    user has set none, which a program that could do without might hope for.
    """
    wanted = read_requirements(files, problem.dependencies)
    if not wanted:
        return NO_PACKAGES
    source = await wheel_source(options)
    if not source.is_chosen:
        raise ScorerError(_missing(problem, [one.pinned for one in wanted], _NO_INDEX))
    key = ["wheels", python, *sorted(one.line for one in wanted), *source.identity]
    return await kept_or_fetched(options.packages, key, lambda: download_wheels(wanted, source, python))


async def fetch_npm_packages(
    problem: Problem, files: Mapping[str, bytes], options: MarkOptions, node: str
) -> PackageSet:
    """What package-lock.json pins; errors as of `fetch_wheels`."""
    names = read_npm_names(files, problem.dependencies)
    if not names:
        return NO_PACKAGES
    registry = await npm_registry()
    lock = read_npm_lock(files, names, registry)
    if registry is None:
        raise ScorerError(_missing(problem, list(names), _NO_REGISTRY))
    key = ["npm", node, lock.description, lock.text, registry]
    return await kept_or_fetched(options.packages, key, lambda: install_npm_packages(lock, registry))


def _missing(problem: Problem, names: Sequence[str], why: str) -> str:
    return f"The program needs {', '.join(names)}, which {problem.id} allows, and {why}"
