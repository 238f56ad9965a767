"""Secrets from files: `NAME_FILE` names the file with a variable's value, `PROCTOR_SECRETS` a folder with one for each.

Containers mount secrets as files (Kubernetes, Docker, the Vault agent): there they are in no list of processes and in
no dump of an environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from proctor.domain.errors import UserError

FOLDER = "PROCTOR_SECRETS"
FILE = "_FILE"
MAX_BYTES = 100_000
OWN = (
    "PROCTOR_SECRET", "PROCTOR_DATABASE_URL", "PROCTOR_DATABASE_READ_URL", "PROCTOR_BROKER_URL", "PROCTOR_KEY",
    "PROCTOR_OIDC_CLIENT_SECRET", "PROCTOR_GITHUB_CLIENT_SECRET",
)  # fmt: skip
"""Those of Proctor's own variables that may be in a file."""
_PROVIDERS = re.compile(r"[A-Z][A-Z0-9_]*_(?:API_KEY|KEY|TOKEN)")
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_OTHERS = frozenset({"PROCTOR_BACKUP_KEY", "AWS_WEB_IDENTITY_TOKEN"})
"""Their files are read by whoever needs them."""


def with_secret_files(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with what its files hold; a variable that is set itself wins. Raises UserError for a bad file."""
    found: dict[str, str] = {}
    if folder := environment.get(FOLDER):
        found |= _in_folder(Path(folder))
    for variable, place in environment.items():
        name = variable.removesuffix(FILE)
        if place and name != variable and name not in _OTHERS and (name in OWN or _is_providers(name)):
            found[name] = _read(Path(place), variable)
    missing = {name: value for name, value in found.items() if not environment.get(name)}
    return {**environment, **missing} if missing else environment


def _is_providers(name: str) -> bool:
    return not name.startswith("PROCTOR_") and _PROVIDERS.fullmatch(name) is not None


def _in_folder(folder: Path) -> dict[str, str]:
    try:
        files = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.is_file())
    except OSError as error:
        raise UserError(f"{FOLDER} names no folder that can be read: {folder} ({error.strerror}).") from None
    return {path.name: _read(path, FOLDER) for path in files}


def _read(path: Path, variable: str) -> str:
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise UserError(f"{path}, named by {variable}, is too large to be a secret.")
        text = content.decode("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no text"
        raise UserError(f"{path}, named by {variable}, cannot be read: {said}.") from None
    if "\x00" in text:
        raise UserError(f"{path}, named by {variable}, is no text.")
    return text
