"""Reads s3://BUCKET/PREFIX?OPTIONS. Keys of an account never stand in it: they come from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from proctor.domain.errors import UserError, did_you_mean
from proctor.offline import is_loopback_host
from proctor.stores.artifacts import S3_SCHEME, VARIABLE

OPTIONS = ("endpoint", "region", "encryption", "kms_key", "allow_http")
ENCRYPTIONS = ("AES256", "aws:kms")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
_SEGMENT = re.compile(r"[A-Za-z0-9!_.*'()-]+")
_ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
_REGION = "us-east-1"
_SWITCH = {"true": True, "1": True, "false": False, "0": False}


class S3Location(Struct, frozen=True):
    """Where in S3, and how it is talked to; it holds no secret."""

    bucket: str
    prefix: str
    endpoint: str | None
    """None is Amazon's own for the region."""
    region: str
    encryption: str | None = None
    kms_key: str | None = None

    @property
    def text(self) -> str:
        return f"{S3_SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    @property
    def host(self) -> str:
        """What is connected to."""
        return self.endpoint or f"https://s3.{self.region}.amazonaws.com"

    @property
    def is_on_this_machine(self) -> bool:
        return is_loopback_host(urlsplit(self.host).hostname or "")


def read_s3_location(url: str, environment: Mapping[str, str]) -> S3Location:
    """Parse the URL; raises UserError for anything that is not understood, without repeating what could be secret."""
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise UserError(f"{VARIABLE} cannot be read. It is s3://BUCKET/PREFIX?endpoint=https://HOST&…") from None
    if "@" in parts.netloc:
        raise UserError(
            f"{VARIABLE} holds no keys: leave out what stands before the @. "
            "They come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    if parts.fragment or not _BUCKET.fullmatch(parts.netloc):
        raise UserError(f"{VARIABLE} names no bucket. It is s3://BUCKET/PREFIX?endpoint=https://HOST&…")
    given = _known(options)
    endpoint = given.get("endpoint") or _first(environment, _ENDPOINT_VARIABLES)
    location = S3Location(
        bucket=parts.netloc,
        prefix=_prefix(parts.path),
        endpoint=None if endpoint is None else _endpoint(endpoint),
        region=given.get("region") or _first(environment, _REGION_VARIABLES) or _REGION,
        encryption=_encryption(given),
        kms_key=given.get("kms_key"),
    )
    if location.host.startswith("http:") and not (location.is_on_this_machine or _is_http_allowed(given)):
        raise UserError(
            f"{location.host} is not encrypted, so {VARIABLE} must say allow_http=true for it, or https://."
        )
    return location


def _known(options: list[tuple[str, str]]) -> dict[str, str]:
    for name, value in options:
        if name not in OPTIONS:
            hint = did_you_mean(name, OPTIONS)
            raise UserError(f"{VARIABLE} has no option {name!r}.{hint} There are: {', '.join(OPTIONS)}.")
        if not value:
            raise UserError(f"{name} in {VARIABLE} has no value.")
    given = dict(options)
    if len(given) < len(options):
        raise UserError(f"{VARIABLE} names an option twice.")
    return given


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((environment[name] for name in names if environment.get(name)), None)


def _prefix(path: str) -> str:
    segments = path.strip("/").split("/") if path.strip("/") else []
    if any(not _SEGMENT.fullmatch(one) or one in (".", "..") for one in segments):
        raise UserError(f"The prefix in {VARIABLE} is made of letters, digits and -_.!*'() between slashes.")
    return "/".join(segments)


def _endpoint(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        is_plain = is_plain and not (parts.query or parts.fragment) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_plain = False
    if not is_plain:
        raise UserError(f"The endpoint in {VARIABLE} is https://HOST or https://HOST:PORT, without keys.")
    return text.rstrip("/")


def _encryption(given: Mapping[str, str]) -> str | None:
    wanted = given.get("encryption")
    if wanted is not None and wanted not in ENCRYPTIONS:
        hint = did_you_mean(wanted, ENCRYPTIONS)
        raise UserError(f"encryption in {VARIABLE} is {' or '.join(ENCRYPTIONS)}, not {wanted!r}.{hint}")
    if "kms_key" in given and wanted != "aws:kms":
        raise UserError(f"kms_key in {VARIABLE} needs encryption=aws:kms.")
    return wanted


def _is_http_allowed(given: Mapping[str, str]) -> bool:
    wanted = given.get("allow_http", "false").lower()
    if wanted not in _SWITCH:
        raise UserError(f"allow_http in {VARIABLE} is true or false, not {wanted!r}.")
    return _SWITCH[wanted]
