"""Finds the store that PROCTOR_ARTIFACTS_URL names; a mistake in it is one clear line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from proctor.domain.artifacts import Artifacts
from proctor.domain.errors import UserError
from proctor.stores.artifacts import S3_SCHEME, VARIABLE
from proctor.stores.artifacts.folder import FolderArtifacts

if TYPE_CHECKING:
    from proctor.stores.artifacts.s3_location import S3Location

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_FORMS = "It is a folder (/PATH or file:///PATH) or s3://BUCKET/PREFIX."


def open_artifacts(url: str, waiting: Path, environment: Mapping[str, str], *, is_offline: bool = False) -> Artifacts:
    """The store of a URL; nothing is made or connected to yet. Bodies that it cannot take wait in a folder."""
    if not url.startswith(S3_SCHEME):
        return FolderArtifacts(_folder(url))
    from proctor.stores.artifacts.buffered import BufferedArtifacts
    from proctor.stores.artifacts.s3_location import read_s3_location

    place = read_s3_location(url, environment)
    return BufferedArtifacts(
        place.text, lambda: _open_s3(place, environment, is_offline=is_offline), FolderArtifacts(waiting)
    )


def _folder(url: str) -> Path:
    found = _SCHEME.match(url)
    scheme = found.group(1).lower() if found else None
    if scheme is not None and scheme != "file":
        raise UserError(f"{VARIABLE} cannot begin with {scheme}:. {_FORMS}")
    path = Path(url).expanduser()
    if scheme == "file":
        parts = urlsplit(url)
        if parts.netloc or parts.query or parts.fragment or not url.lower().startswith("file://"):
            raise UserError(f"{VARIABLE} cannot be read. {_FORMS}")
        path = Path(unquote(parts.path))
    if not path.is_absolute():
        # Else a misspelt s3//BUCKET would be a folder in whatever folder a command is started.
        raise UserError(f"{VARIABLE} is no whole path. {_FORMS}")
    return path


def _open_s3(place: S3Location, environment: Mapping[str, str], *, is_offline: bool) -> Artifacts:
    try:
        from proctor.stores.artifacts.s3 import S3Artifacts
    except ImportError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "obstore":
            raise
        raise UserError("Artifacts in S3 need the package obstore: pip install 'proctor[s3]'.") from None
    return S3Artifacts(place, environment, is_offline=is_offline)
