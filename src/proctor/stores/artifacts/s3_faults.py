"""What a server of S3 refuses, in words that say what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from proctor.domain.errors import NotFoundError, ProctorError, StoreError
from proctor.domain.text import shorten
from proctor.stores.artifacts import VARIABLE
from proctor.stores.artifacts.s3_location import S3Location

_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_ROLE_REQUESTS = ("/latest/api/token", "/latest/meta-data/", "http://169.254.")
"""How requests for the role of a machine or a container begin or end."""
_REGION_CODES = ("AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException")
_SHOWN = 200
_NAMED = 5
"""So many buckets are named at most."""
UsableBuckets = Callable[[], Collection[str] | None]
"""The names of the buckets that a server lists for a key; None where it does not say."""


def explain(fault: Exception, place: S3Location, verb: str, key: str, usable: UsableBuckets) -> ProctorError:
    """NotFoundError where only the artifact with the key is missing; StoreError for all else.

    `usable` is asked where the server refused a right: many answer so for a bucket that there is not, too.
    """
    text = str(fault)
    code, status = _found(_CODE, text), _found(_STATUS, text)
    if key and isinstance(fault, FileNotFoundError) and code != "NoSuchBucket":
        return NotFoundError(f"There is no artifact {key} in {place.text}.")
    words = _words(place, code, status, text) or _refused(place, verb, usable())
    return StoreError(f"Artifacts in {place.text}: {words}")


def _refused(place: S3Location, verb: str, usable: Collection[str] | None) -> str:
    no_right = f"the key in AWS_ACCESS_KEY_ID has no right to {verb} the bucket {place.bucket!r}"
    if not usable:
        return f"{no_right}, or there is no such bucket: {place.host} does not say which of the two."
    if place.bucket in usable:
        return f"{no_right}."
    names = sorted(usable)
    listed = ", ".join(names[:_NAMED]) + (", …" if names[_NAMED:] else "")
    return (
        f"there is no bucket {place.bucket!r} among those that the key in AWS_ACCESS_KEY_ID may list at {place.host} "
        f"({listed}). Check {VARIABLE}, or give the key the right to {verb} it."
    )


def _words(place: S3Location, code: str, status: str, text: str) -> str | None:
    """None for a right that is missing, whatever the reason."""
    words = {
        "NoSuchBucket": f"there is no bucket {place.bucket!r} at {place.host}. Check {VARIABLE}.",
        "InvalidAccessKeyId": f"{place.host} does not know the key in AWS_ACCESS_KEY_ID.",
        "SignatureDoesNotMatch": "AWS_SECRET_ACCESS_KEY is not the secret of the key in AWS_ACCESS_KEY_ID.",
        "ExpiredToken": "AWS_SESSION_TOKEN has expired.",
        "InvalidToken": f"{place.host} refuses AWS_SESSION_TOKEN.",
        "RequestTimeTooSkewed": "the clock of this machine is wrong.",
    }
    if code in words:
        return words[code]
    if any(part in text for part in _ROLE_REQUESTS):
        return "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and this machine has no role to use instead."
    if code in _REGION_CODES or "configured region" in text:
        return f"the bucket is not in the region {place.region}: add region=… to {VARIABLE}."
    if "InvalidCertificate" in text:
        return f"the certificate of {place.host} is not trusted. SSL_CERT_FILE names authorities of your own."
    if status in ("401", "403"):
        return None
    if status:
        again = ", also when it was asked again" if status.startswith("5") else ""
        return f"{place.host} answered {' '.join(filter(None, (status, code)))}{again}."
    if "kind: Timeout" in text:
        return f"{place.host} does not answer in time."
    if "HTTP error" in text:
        return f"{place.host} cannot be reached, also when it was tried again."
    return shorten(text.partition("\n")[0], _SHOWN)


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group(1) if match else ""
