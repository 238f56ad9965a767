"""A program as one file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping


def program_zip(files: Mapping[str, bytes]) -> bytes:
    """The files as a zip; equal files give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED  # an entry of its own does not take the archive's
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return stream.getvalue()
