"""Other tools beside Proctor: the same samples, the same provider, whole processes, one after the other.

`python bench/side_by_side.py DIR` puts each of them into an environment of its own below DIR, which belongs outside
the project; `python bench/run.py --peers DIR` then measures those that are there.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "peers"


@dataclass(frozen=True)
class Peer:
    name: str
    packages: tuple[str, ...]
    script: str
    """Takes the provider's address, the file of samples, the concurrency and a folder for what it writes."""
    trials: int
    """How many it is given: as many as it gets through in a minute or two."""


PEERS = (
    Peer("pydantic-evals", ("pydantic-evals", "openai"), "with_pydantic_evals.py", 10_000),
    Peer("inspect-ai", ("inspect-ai", "openai"), "with_inspect_ai.py", 1_000),
)


@dataclass(frozen=True)
class Installed:
    name: str
    version: str
    command: tuple[str, ...]
    trials: int


def python_of(folder: Path, peer: Peer) -> Path:
    return folder / peer.name / "bin" / "python"


def install(folder: Path) -> None:
    """Idempotent: an environment that is there is left as it is."""
    for peer in PEERS:
        python = python_of(folder, peer)
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder / peer.name)], check=True)
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *peer.packages], check=True)


def installed(folder: Path) -> list[Installed]:
    found = []
    for peer in PEERS:
        python = python_of(folder, peer)
        if python.exists():
            code = f"from importlib.metadata import version; print(version({peer.name!r}))"
            said = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
            command = (str(python), str(SCRIPTS / peer.script))
            found.append(Installed(peer.name, said.stdout.strip(), command, peer.trials))
    return found


if __name__ == "__main__":
    install(Path(sys.argv[1]))
