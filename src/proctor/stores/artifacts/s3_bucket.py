"""A bucket of S3 as it is connected to, for whatever is kept there. Needs obstore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from obstore.exceptions import BaseError
from obstore.store import S3Store

from proctor.domain.errors import UserError
from proctor.offline import is_confined
from proctor.stores.artifacts import VARIABLE
from proctor.stores.artifacts.s3_account import list_buckets
from proctor.stores.artifacts.s3_faults import explain
from proctor.stores.artifacts.s3_location import S3Location

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

PART_BYTES = 8 * 1024 * 1024
"""What is larger is sent in parts of this size, and every body read so much at a time."""
ANSWER_SECONDS = 10
"""How long a server may say nothing."""
_KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_RETRIES: RetryConfig = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=5), "base": 2},
}


class S3Bucket:
    """The objects below a prefix; nothing is connected to before one is asked for."""

    def __init__(self, place: S3Location, environment: Mapping[str, str], *, is_offline: bool = False) -> None:
        self.place = place
        self._has_keys = _has_keys(environment)
        self._is_offline = is_offline
        self._config = _config(place) | _keys(environment)
        self._client = _client_options(place, environment)
        try:
            self._store = S3Store(
                place.bucket,
                prefix=place.prefix or None,
                config=self._config,
                client_options=self._client,
                retry_config=_RETRIES,
            )
        except (BaseError, ValueError) as fault:
            raise UserError(f"The settings of {place.text} cannot be used: {_first_line(fault)}") from fault

    @contextmanager
    def opened(self, verb: str, key: str = "") -> Iterator[S3Store]:
        """The store for one piece of work; what its server refuses is said in words."""
        if self._is_offline or is_confined():
            self._refuse_beyond_this_machine()
        try:
            yield self._store
        except (BaseError, FileNotFoundError) as fault:
            raise explain(fault, self.place, verb, key, self._usable_buckets) from fault

    def _usable_buckets(self) -> list[str] | None:
        return list_buckets(self.place, self._config, self._client, seconds=ANSWER_SECONDS)

    def _refuse_beyond_this_machine(self) -> None:
        """What obstore connects to is not seen by the hooks that confine Python code."""
        if not self.place.is_on_this_machine:
            raise UserError(
                f"{self.place.text} is at {self.place.host}, and nothing beyond this machine may be connected to "
                f"(--offline, PROCTOR_OFFLINE). Set {VARIABLE} to a folder, or leave that out."
            )
        if not self._has_keys:
            raise UserError(
                f"{self.place.text} needs AWS_ACCESS_KEY_ID: offline, no role of this machine is asked for."
            )


def _has_keys(environment: Mapping[str, str]) -> bool:
    """Whether there are any; without, obstore asks for the role of this machine."""
    missing = [name for name in _KEY_VARIABLES if not environment.get(name)]
    if len(missing) == 1:
        raise UserError(f"Artifacts in S3 need {' and '.join(_KEY_VARIABLES)}: {missing[0]} is not set.")
    return not missing


def _keys(environment: Mapping[str, str]) -> S3Config:
    """As obstore reads them from the process's environment; here they may come from files of secrets, too."""
    keys: S3Config = {}
    if _has_keys(environment):
        keys["access_key_id"] = environment["AWS_ACCESS_KEY_ID"]
        keys["secret_access_key"] = environment["AWS_SECRET_ACCESS_KEY"]
        if token := environment.get("AWS_SESSION_TOKEN"):
            keys["session_token"] = token
    return keys


def _config(place: S3Location) -> S3Config:
    config: S3Config = {"region": place.region}
    if place.endpoint is not None:
        config["aws_endpoint_url_s3"] = place.endpoint  # of several names the one that wins over the environment's
    if place.encryption is not None:
        config["server_side_encryption"] = place.encryption
    if place.kms_key is not None:
        config["sse_kms_key_id"] = place.kms_key
    return config


def _client_options(place: S3Location, environment: Mapping[str, str]) -> ClientConfig:
    options: ClientConfig = {
        "allow_http": place.host.startswith("http:"),
        "connect_timeout": timedelta(seconds=5),
        "read_timeout": timedelta(seconds=ANSWER_SECONDS),
        "timeout": timedelta(hours=1),  # of a whole body, which may be large
    }
    if place.is_on_this_machine:
        # A proxy of its own takes the place of the environment's, and this one is used for nothing.
        options |= {"proxy_url": place.host, "proxy_excludes": "localhost,127.0.0.0/8,::1"}
    if authorities := environment.get("SSL_CERT_FILE"):
        options["root_certificate"] = _read(Path(authorities))
    return options


def _read(authorities: Path) -> bytes:
    try:
        return authorities.read_bytes()
    except OSError as fault:
        raise UserError(f"SSL_CERT_FILE cannot be read: {fault.strerror}: {authorities}.") from fault


def _first_line(fault: Exception) -> str:
    return str(fault).partition("\n")[0]
