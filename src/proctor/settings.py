"""The environment, read once into one frozen object."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from proctor.domain.documents.usage import UsagePrices
from proctor.domain.errors import UserError, did_you_mean
from proctor.secret_files import FILE, OWN, with_secret_files

PREFIX = "PROCTOR_"
VARIABLES = (
    "HOME", "DATABASE_URL", "DATABASE_READ_URL", "BROKER_URL", "ARTIFACTS_URL", "BACKUPS_URL", "BACKUP_KEY",
    "BACKUP_KEY_FILE", "RETENTION_DAYS", "DATA", "PRICES", "OFFLINE", "KEY_HOSTS", "SERVER", "KEY",
    "SECRET", "SECRETS", "UPLOAD_MB", "UPLOAD_DAYS", "LOG_LEVEL", "LOG_FORMAT", "LOG_FOLDER", "LOG_DAYS", "LOG_SAMPLE",
    "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_NAME", "GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET",
    "GITHUB_URL", "SIGN_UP_DOMAINS", "REQUESTS_PER_MINUTE", "WEBHOOK_HOSTS",
    "TRACES_URL", "WORKER_HOUR_USD", "STORAGE_GB_MONTH_USD", "STATIC_URL", "CACHE_MB",
)  # fmt: skip
"""What may follow the prefix; whoever misspells one believes that it holds."""
MARKS = ("COMMAND",)
"""Set by Proctor itself for the programs that it starts, which may start Proctor again."""
SWITCH = {"": False, "0": False, "false": False, "no": False, "off": False}
SWITCH |= {"1": True, "true": True, "yes": True, "on": True}
MAX_DAYS = 36_500
REQUESTS_PER_MINUTE = 6_000
MAX_REQUESTS = 10_000_000
MAX_MEGABYTES = 1_000
UPLOAD_MB, UPLOAD_DAYS = 20, 30.0
CACHE_MB = 64
MAX_PRICE_USD = 1e6
MAX_COUNT = 1_000_000
LOG_FORMATS = ("auto", "json", "text")
_SQLITE = "sqlite:///"
_ARTIFACTS = "artifacts"


class Settings(Struct, frozen=True):
    home: Path
    """Where results are kept when no database is named."""
    database_url: str
    artifacts_url: str
    """A folder or s3://BUCKET/PREFIX, where programs, logs and other large bodies are kept."""
    backups_url: str
    """A folder or s3://BUCKET/PREFIX, where backups are kept."""
    database_read_url: str | None = None
    """A replica that is read from instead."""
    broker_url: str | None = None
    """The Redis through which workers are told of runs; None where this process executes them."""
    data: Path | None = None
    """A folder with benchmark data, used instead of the hub."""
    prices: Path | None = None
    """A file with prices that win over the list."""
    retention_days: float | None = None
    """After how many days runs that have ended are removed by `proctor retention`; None keeps them."""
    is_offline: bool = False
    """Whether nothing beyond this machine may be connected to."""
    requests_per_minute: int = REQUESTS_PER_MINUTE
    """How many requests a server takes from an address, a key and a user; 0 for any number."""
    server: str | None = None
    """A Proctor server that commands are about, instead of this machine's own results."""
    server_key: str | None = None
    """The key for it."""
    upload_mb: int = UPLOAD_MB
    """The most megabytes that a file may have which is uploaded to this server."""
    upload_days: float = UPLOAD_DAYS
    """After how many days an uploaded file is gone that no run uses."""
    log_level: str = "info"
    """Of servers and workers: a level, and others for single modules: `info,proctor.access=warning`."""
    log_format: str = "auto"
    """`json`, `text`, or `auto`: text on a terminal."""
    log_folder: Path | None = None
    """Where a file a day is kept; standard error where there is none."""
    log_days: int = 30
    """How long those files are kept."""
    log_sample: int = 100
    """Of frequent requests that say nothing new, one in so many is logged."""
    worker_hour_usd: float | None = None
    """What an hour of a worker process costs the operator; None where nothing is said."""
    storage_gb_month_usd: float | None = None
    """What a gigabyte costs him each month."""
    traces_url: str | None = None
    """The collector (OTLP over HTTP) that servers and workers send their traces to."""

    static_url: str | None = None
    """Where the dashboard's hashed files are served from, such as a CDN; by the server itself where it is None."""
    cache_mb: int = CACHE_MB
    """How many megabytes of computed documents a server keeps; 0 for none."""

    @property
    def cache_bytes(self) -> int:
        return self.cache_mb * 1_000_000

    @property
    def upload_bytes(self) -> int:
        return self.upload_mb * 1_000_000

    @property
    def usage_prices(self) -> UsagePrices:
        """What the operator's own machines cost."""
        return UsagePrices(self.worker_hour_usd, self.storage_gb_month_usd)

    @property
    def waiting(self) -> Path:
        """Where artifacts wait that could not be sent to S3 yet."""
        return self.home / "artifacts-waiting"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the variables; raises UserError for one that there is not, or a value that says nothing."""
        _refuse_unknown(environment)
        environment = with_secret_files(environment)
        home = Path(environment.get("PROCTOR_HOME") or Path("~/.proctor").expanduser()).absolute()
        url = environment.get("PROCTOR_DATABASE_URL") or f"sqlite:///{home / 'proctor.db'}"
        data = environment.get("PROCTOR_DATA")
        prices = Path(environment.get("PROCTOR_PRICES") or home / "prices.yaml")
        is_wanted = "PROCTOR_PRICES" in environment or _is_file(prices)
        return cls(
            home=home,
            database_url=url,
            database_read_url=environment.get("PROCTOR_DATABASE_READ_URL") or None,
            broker_url=environment.get("PROCTOR_BROKER_URL") or None,
            artifacts_url=environment.get("PROCTOR_ARTIFACTS_URL") or str(_artifacts_folder(home, url)),
            backups_url=environment.get("PROCTOR_BACKUPS_URL") or str(home / "backups"),
            retention_days=_days(environment, "PROCTOR_RETENTION_DAYS"),
            data=Path(data) if data else None,
            prices=prices if is_wanted else None,
            is_offline=_switch(environment, "PROCTOR_OFFLINE"),
            requests_per_minute=_whole(environment, "PROCTOR_REQUESTS_PER_MINUTE", REQUESTS_PER_MINUTE),
            server=environment.get("PROCTOR_SERVER") or None,
            server_key=environment.get("PROCTOR_KEY") or None,
            upload_mb=_megabytes(environment, "PROCTOR_UPLOAD_MB") or UPLOAD_MB,
            upload_days=_days(environment, "PROCTOR_UPLOAD_DAYS") or UPLOAD_DAYS,
            log_level=environment.get("PROCTOR_LOG_LEVEL") or "info",
            log_format=_choice(environment, "PROCTOR_LOG_FORMAT", LOG_FORMATS),
            log_folder=Path(folder).absolute() if (folder := environment.get("PROCTOR_LOG_FOLDER")) else None,
            log_days=int(_days(environment, "PROCTOR_LOG_DAYS") or 30),
            log_sample=_count(environment, "PROCTOR_LOG_SAMPLE", 100),
            worker_hour_usd=_price(environment, "PROCTOR_WORKER_HOUR_USD"),
            storage_gb_month_usd=_price(environment, "PROCTOR_STORAGE_GB_MONTH_USD"),
            traces_url=_http_address(environment, "PROCTOR_TRACES_URL"),
            static_url=_static_address(environment, "PROCTOR_STATIC_URL"),
            cache_mb=_whole(environment, "PROCTOR_CACHE_MB", CACHE_MB),
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a home of somebody else's
        raise UserError(
            f"{path.parent} cannot be read: {error.strerror}. PROCTOR_HOME names the folder to use."
        ) from None


def _artifacts_folder(home: Path, database_url: str) -> Path:
    """In the home. Version 0.1 kept them beside the SQLite file; where they are, later ones are kept with them."""
    path, _, _ = database_url.removeprefix(_SQLITE).partition("?")
    beside = Path(path).absolute().parent / _ARTIFACTS
    if database_url.startswith(_SQLITE) and any(beside.glob("[0-9a-f][0-9a-f]")):
        return beside
    return home / _ARTIFACTS


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = [f"{PREFIX}{name}" for name in VARIABLES]
    for name in sorted(environment):
        if name.removesuffix(FILE) in OWN:
            continue
        if name.startswith(PREFIX) and name not in known and name.removeprefix(PREFIX) not in MARKS:
            hint = did_you_mean(name, known)
            raise UserError(f"There is no environment variable {name}.{hint} There are: {', '.join(known)}.")


def _choice(environment: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """One of these; the first if nothing is said."""
    text = environment.get(name) or choices[0]
    if text not in choices:
        raise UserError(f"{name} is {', '.join(choices[:-1])} or {choices[-1]}, not {text!r}.")
    return text


def _http_address(environment: Mapping[str, str], name: str) -> str | None:
    text = environment.get(name)
    if text and not text.startswith(("http://", "https://")):
        raise UserError(f"{name} is an address such as http://127.0.0.1:4318, not {text!r}.")
    return text or None


def _static_address(environment: Mapping[str, str], name: str) -> str | None:
    text = (_http_address(environment, name) or "").rstrip("/")
    if not re.fullmatch(r"(https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?)?", text):
        raise UserError(f"{name} is an address such as https://cdn.example/proctor, not {text!r}.")
    return text or None


def _price(environment: Mapping[str, str], name: str) -> float | None:
    text = environment.get(name)
    if not text:
        return None
    try:
        price = float(text)
    except ValueError:
        price = -1.0
    if not 0 <= price < MAX_PRICE_USD:
        raise UserError(f"{name} is a price in dollars, such as 0.12, not {text!r}.")
    return price


def _count(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= MAX_COUNT:
        raise UserError(f"{name} is a whole number from 1 to {MAX_COUNT}, not {text!r}.")
    return int(text)


def _days(environment: Mapping[str, str], name: str) -> float | None:
    text = environment.get(name)
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MAX_DAYS:
        raise UserError(f"{name} is a whole number of days, from 1 to {MAX_DAYS}, not {text!r}.")
    return float(text)


def _megabytes(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name)
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MAX_MEGABYTES:
        raise UserError(f"{name} is a whole number of megabytes, from 1 to {MAX_MEGABYTES}, not {text!r}.")
    return int(text)


def _whole(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name)
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or int(text) > MAX_REQUESTS:
        raise UserError(f"{name} is a whole number from 0 to {MAX_REQUESTS:,}, not {text!r}.")
    return int(text)


def _switch(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name, "")
    try:
        return SWITCH[value.strip().lower()]
    except KeyError:
        raise UserError(f"{name} is 1 or 0, not {value!r}.") from None
