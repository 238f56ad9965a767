"""The example package: what it names, and how it is installed as anybody would."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from proctor import plugins

PACKAGE = Path(__file__).parents[2] / "examples" / "proctor-example"


def entries() -> dict[str, list[str]]:
    """The names that the example adds, by kind."""
    document = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {kind: [] for kind in plugins.KINDS}
    for entry in document["project"]["entry-points"][plugins.GROUP]:
        kind, _, name = entry.partition(".")
        found[kind].append(name)
    return found


def names(kind: str) -> list[str]:
    """Everything that a contract holds for: what is built in and what the example adds."""
    return [*plugins.BUILT_IN.get(kind, ()), *entries()[kind]]


def install(package: Path, work: Path) -> Path:
    """The folder that the package was installed into, without a network and without a trace in the package's own."""
    copy, site = work / "source", work / "site"
    shutil.copytree(package, copy)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(copy)],
        check=True,
        capture_output=True,
        cwd=work,
    )
    return site
