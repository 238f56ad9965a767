"""Whom we trust over TLS: certificates and names are always checked, and nothing below TLS 1.2 is spoken."""

from __future__ import annotations

import os
import ssl
import sys
from functools import lru_cache

from proctor.models.connections import system_words

BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep their authorities: an interpreter that was built elsewhere does not always look there."""
OF_TRUST = ("self-signed", "self signed", "issuer", "unable to verify")

NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
"""What OpenSSL calls an answer that is none of TLS; its versions differ."""


class UntrustedError(Exception):
    """Who answered did not prove to be who was asked; says why, in brackets, and what to do."""


def trusted() -> ssl.SSLContext:
    """What every connection over TLS is made with."""
    return _context(os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", ""), sys.platform)


@lru_cache(maxsize=4)
def _context(file: str, folder: str, platform: str) -> ssl.SSLContext:
    is_own = bool(file or folder)
    has_own_store = platform in ("darwin", "win32") and not is_own
    context = _of_the_system() if has_own_store else ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if file:
        # OpenSSL passes over a file that is not there, and then nobody can be trusted for a reason nobody sees.
        try:
            context.load_verify_locations(cafile=file)
        except (OSError, ssl.SSLError):
            raise UntrustedError(f"(SSL_CERT_FILE names {file}, which holds no readable certificates).") from None
    usual = ssl.get_default_verify_paths()
    if not (has_own_store or is_own or usual.cafile or usual.capath):
        for bundle in filter(os.path.exists, BUNDLES):
            context.load_verify_locations(cafile=bundle)
    return context


def _of_the_system() -> ssl.SSLContext:
    """macOS and Windows keep their authorities where OpenSSL does not look."""
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def distrust(error: ssl.SSLCertVerificationError) -> UntrustedError:
    """The reason in one line."""
    said = str(getattr(error, "verify_message", "") or error).rstrip(".")
    if any(word in said.lower() for word in OF_TRUST):
        advice = "If its certificate is your own, name the authority's file in SSL_CERT_FILE."
    elif "expired" in said or "not yet valid" in said:
        advice = "Check this machine's clock; else whoever runs the server must renew its certificate."
    else:
        advice = "Check base_url: it must name the server as its certificate does."
    return UntrustedError(f"({said}). {advice}")


def tls_words(error: ssl.SSLError) -> str:
    """Why no secure connection came about."""
    if error.reason in NO_TLS:
        return "it does not speak TLS: is it an http:// address?"
    return f"no secure connection could be agreed upon: {system_words(error)}"
