"""Tokens as text."""

import base64
import binascii
import json
import re
from dataclasses import dataclass

from caveats import Malformed

VERSION = "cap1"
SIGNATURE_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9_.@:-]{1,64}")
_FIELDS = {"key", "subject", "caveats"}


@dataclass(frozen=True)
class Claims:
    """What a token says."""

    key: str
    subject: str
    caveats: tuple[str, ...]


def check_name(name: str) -> str:
    """Give the name back; raises Malformed unless it is one."""
    if _NAME.fullmatch(name) is None:
        raise Malformed("a name has 1 to 64 characters from A-Z a-z 0-9 _ - . @ :")
    return name


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    """Decode the one canonical form."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        raise Malformed("not base64url") from None
    if not data and text:
        raise Malformed("not the canonical form of base64url")
    return data


def encode(claims: Claims, signature: bytes) -> str:
    """Write a token."""
    fields = {
        "key": claims.key,
        "subject": claims.subject,
        "caveats": list(claims.caveats),
    }
    payload = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f"{VERSION}.{_text(payload.encode())}.{_text(signature)}"


def decode(token: str) -> tuple[Claims, bytes]:
    """Read a token; raises Malformed."""
    parts = token.split(".")
    if len(parts) != 3 or parts[0] != VERSION:
        raise Malformed("a token has three parts, the first of them cap1")
    signature = _bytes(parts[2])
    if len(signature) != SIGNATURE_BYTES:
        raise Malformed("a signature has 32 bytes")
    return _claims(_bytes(parts[1])), signature


def _claims(payload: bytes) -> Claims:
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError):
        raise Malformed("the payload is not JSON") from None
    if not isinstance(fields, dict) or fields.keys() != _FIELDS:
        raise Malformed("the payload has other fields")
    caveats = fields["caveats"]
    if not isinstance(caveats, list):
        raise Malformed("the caveats are no list")
    texts = [fields["key"], fields["subject"], *caveats]
    if not all(isinstance(text, str) for text in texts):
        raise Malformed("the payload holds something that is no text")
    return Claims(check_name(texts[0]), check_name(texts[1]), tuple(texts[2:]))
