"""The certificate that a server shows."""

from __future__ import annotations

from pathlib import Path


def read_expiry(path: Path) -> float | None:
    """When the first certificate of the file ends, in seconds since 1970; None for a file that has none."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc.timestamp()
    except (OSError, ValueError):
        return None
