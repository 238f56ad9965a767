"""Which buckets a key may use, as the server says: asked only where it refused the one that is named. Needs obstore."""

from __future__ import annotations

import re
import ssl
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, build_opener

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from proctor.domain.errors import UserError
from proctor.stores.artifacts.s3_location import S3Location

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Config

LINK_SECONDS = 60
MAX_BYTES = 4_000_000
_BUCKET = re.compile(rb"<Bucket>.*?<Name>([^<]+)</Name>.*?</Bucket>", re.DOTALL)


def list_buckets(place: S3Location, config: S3Config, client: ClientConfig, *, seconds: float) -> list[str] | None:
    """The names of those that the server lists for the key; None where it does not say.

    A server may answer alike for a bucket that is missing and for one that the key may not use; this tells them apart.
    """
    try:
        # obstore lists no buckets. Of a bucket of this style it signs the host's own address, which does.
        root = S3Store(
            place.bucket,
            config=config | {"aws_endpoint_url_s3": place.host, "virtual_hosted_style_request": True},
            client_options=client,
        )
        link = obstore.sign(root, "GET", "", timedelta(seconds=LINK_SECONDS))
        with _opener(place, client).open(link, timeout=seconds) as answer:
            body = answer.read(MAX_BYTES)
    except (BaseError, UserError, URLError, OSError, ValueError):
        return None
    if b"ListAllMyBucketsResult" not in body:
        return None
    return [name.decode(errors="replace") for name in _BUCKET.findall(body)]


def _opener(place: S3Location, client: ClientConfig) -> OpenerDirector:
    authorities = client.get("root_certificate")
    text = authorities.decode() if isinstance(authorities, bytes) else authorities
    trusted = ssl.create_default_context(cadata=text)
    proxies = [ProxyHandler({})] if place.is_on_this_machine else []
    return build_opener(HTTPSHandler(context=trusted), *proxies)
