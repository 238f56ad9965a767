"""Artifacts as objects in a bucket of S3, or of a server that speaks its protocol. Needs obstore."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError
from obstore.store import S3Store

from proctor.domain.artifacts import copied, damaged, is_key, key_of, path_of, verified
from proctor.domain.errors import NotFoundError, StoreError, UserError
from proctor.offline import is_confined
from proctor.stores.artifacts import VARIABLE
from proctor.stores.artifacts.s3_faults import explain
from proctor.stores.artifacts.s3_location import S3Location

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

PART_BYTES = 8 * 1024 * 1024
"""What is larger is sent in parts of this size, and every body read so much at a time."""
PARTS_AT_ONCE = 3
PAGE = 1000
MAX_LINK_SECONDS = 7 * 24 * 3600
"""S3 signs for no longer."""
ANSWER_SECONDS = 10
"""How long a server may say nothing."""
_KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_RETRIES: RetryConfig = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=5), "base": 2},
}


class S3Artifacts:
    """Bodies as objects below a prefix; nothing is connected to before one is asked for."""

    def __init__(self, place: S3Location, environment: Mapping[str, str], *, is_offline: bool = False) -> None:
        self._place = place
        self._has_keys = _has_keys(environment)
        self._is_offline = is_offline
        try:
            self._bucket = S3Store(
                place.bucket,
                prefix=place.prefix or None,
                config=_config(place),
                client_options=_client_options(place, environment),
                retry_config=_RETRIES,
            )
        except (BaseError, ValueError) as fault:
            raise UserError(f"The settings of {place.text} cannot be used: {_first_line(fault)}") from fault

    @property
    def location(self) -> str:
        return self._place.text

    def put(self, name: str, content: bytes | Iterable[bytes]) -> str:  # noqa: ARG002 - whoever refers to it keeps its name
        if isinstance(content, bytes) and len(content) <= PART_BYTES:
            return self._create(content)
        with tempfile.TemporaryFile(prefix="proctor-") as file:
            key = key_of(copied((content,) if isinstance(content, bytes) else content, file))
            size = file.tell()
            file.seek(0)
            if size <= PART_BYTES:
                return self._create(file.read())
            if not self._has(key, size):
                self._upload(key, file)
        return key

    def _create(self, content: bytes) -> str:
        key = key_of(content)
        with self._explained("write to") as bucket:
            try:
                obstore.put(bucket, path_of(key), content, mode="create")
            except AlreadyExistsError:
                if not self._has(key, len(content)):  # another process was writing or deleting it, and is not done
                    raise StoreError(f"{self.location} refused to store the artifact {key}; try again.") from None
        return key

    def _upload(self, key: str, file: IO[bytes]) -> None:
        # Parts cannot be sent on condition; whoever sends the same key at the same time sends the same bytes.
        parts = {"use_multipart": True, "chunk_size": PART_BYTES, "max_concurrency": PARTS_AT_ONCE}
        with self._explained("write to") as bucket:
            obstore.put(bucket, path_of(key), file, **parts)  # type: ignore[arg-type]

    def _has(self, key: str, size: int) -> bool:
        found = self.size(key)
        if found not in (None, size):
            raise damaged(key)
        return found is not None

    def get(self, key: str) -> bytes:
        return b"".join(self.chunks(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        return verified(key, self._read(key, path_of(key)))

    def _read(self, key: str, path: str) -> Iterator[bytes]:
        with self._explained("read from", key) as bucket:
            for chunk in obstore.get(bucket, path).stream(min_chunk_size=PART_BYTES):
                yield bytes(chunk)

    def size(self, key: str) -> int | None:
        path = path_of(key)
        try:
            with self._explained("read from", key) as bucket:
                try:
                    return obstore.head(bucket, path)["size"]
                except (FileNotFoundError, PermissionDeniedError):
                    # Only the body of an answer says whether the bucket is missing or the secret wrong; HEAD has none.
                    return obstore.get(bucket, path).meta["size"]
        except NotFoundError:
            return None

    def exists(self, key: str) -> bool:
        return self.size(key) is not None

    def delete(self, key: str) -> int | None:
        size = self.size(key)
        if size is not None:
            with self._explained("delete from") as bucket:
                obstore.delete(bucket, path_of(key))
        return size

    def keys(self) -> Iterator[str]:
        with self._explained("list") as bucket:
            for page in obstore.list(bucket, chunk_size=PAGE):
                for item in page:
                    folder, _, name = item["path"].partition("/")
                    if is_key(key := folder + name) and item["path"] == path_of(key):
                        yield key

    def link(self, key: str, *, seconds: int) -> str:
        if not 1 <= seconds <= MAX_LINK_SECONDS:
            raise UserError(f"A download link holds for 1 to {MAX_LINK_SECONDS} seconds, not {seconds}.")
        if not self.exists(key):
            raise NotFoundError(f"There is no artifact {key} in {self.location}.")
        with self._explained("sign links to") as bucket:
            return obstore.sign(bucket, "GET", path_of(key), timedelta(seconds=seconds))

    def check(self) -> None:
        content = b"Proctor checks that this place can be used. " + secrets.token_bytes(16)
        key = self.put("probe", content)
        found = self.get(key)
        self.delete(key)
        if found != content or self.exists(key):
            raise StoreError(f"{self.location} does not give back, or does not delete, what is written to it.")

    def delayed(self) -> str | None:
        return None

    @contextmanager
    def _explained(self, verb: str, key: str = "") -> Iterator[S3Store]:
        if self._is_offline or is_confined():
            self._refuse_beyond_this_machine()
        try:
            yield self._bucket
        except (BaseError, FileNotFoundError) as fault:
            raise explain(fault, self._place, verb, key) from fault

    def _refuse_beyond_this_machine(self) -> None:
        """What obstore connects to is not seen by the hooks that confine Python code."""
        if not self._place.is_on_this_machine:
            raise UserError(
                f"{self.location} is at {self._place.host}, and nothing beyond this machine may be connected to "
                f"(--offline, PROCTOR_OFFLINE). Set {VARIABLE} to a folder, or leave that out."
            )
        if not self._has_keys:
            raise UserError(f"{self.location} needs AWS_ACCESS_KEY_ID: offline, no role of this machine is asked for.")


def _has_keys(environment: Mapping[str, str]) -> bool:
    """Whether there are any; without, obstore asks for the role of this machine."""
    missing = [name for name in _KEY_VARIABLES if not environment.get(name)]
    if len(missing) == 1:
        raise UserError(f"Artifacts in S3 need {' and '.join(_KEY_VARIABLES)}: {missing[0]} is not set.")
    return not missing


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
