"""The certificate that a server shows, and those that it wants to be shown."""

from __future__ import annotations

import ssl
from pathlib import Path

from proctor.domain.errors import UserError


def make_context(certificate: str, key: str | None, client_authorities: str | None) -> ssl.SSLContext:
    """What the server speaks TLS with: 1.3 and nothing older; raises UserError for files that do not fit.

    With authorities for clients, whoever shows no certificate of theirs gets no answer at all.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError):
        where = certificate if key is None else f"{certificate} and {key}"
        raise UserError(f"{where} hold no certificate with its key, in PEM and without a password.") from None
    if client_authorities is not None:
        try:
            context.load_verify_locations(cafile=client_authorities)
        except (OSError, ssl.SSLError):
            raise UserError(f"{client_authorities} holds no certificates of authorities, in PEM.") from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def read_expiry(path: Path) -> float | None:
    """When the first certificate of the file ends, in seconds since 1970; None for a file that has none."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc.timestamp()
    except (OSError, ValueError):
        return None
