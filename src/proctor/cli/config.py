"""`proctor config`: every setting, its value and where it came from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json
from proctor.domain.documents.configuration import SettingValue
from proctor.secret_files import with_secret_files
from proctor.settings import PREFIX, VARIABLES, Settings

MASK = "***"
OTHERS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL_S3")
NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_SECRET = re.compile(r"(?:^|_)(?:KEY|KEYS|SECRET|TOKEN|PASSWORD)(?:_ID)?$")
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):(.*)@")  # up to the last @: one may be in the password
_SECRET_OPTION = re.compile(r"((?:^|[?&\s])\w*(?:password|secret|token|key)=)[^&\s]*", re.IGNORECASE)


@click.command(short_help="Show every setting and where it comes from.")
@as_json
def config(as_json: bool) -> None:
    """Show every setting, its value and whether it comes from the environment or a file; secrets are masked."""
    from proctor.cli.context import print_json

    found = list(read_settings(os.environ))
    if as_json:
        print_json(found)
        return
    width = max(len(one.name) for one in found)
    for one in found:
        echo(f"{one.name:<{width}}  {'-' if one.value is None else one.value}  ({one.source})")


def read_settings(environment: Mapping[str, str]) -> Iterator[SettingValue]:
    """Proctor's own variables, then those of others that it reads, then the providers' keys."""
    from proctor.models.registry import list_providers

    settings = Settings.from_environment(environment)
    read = with_secret_files(environment)
    for variable in VARIABLES:
        name = f"{PREFIX}{variable}"
        yield _setting(name, environment.get(name), _default(settings, variable), read.get(name))
    keys = {status.key_variable for status in list_providers(environment)} - {None}
    for name in (*OTHERS, *NETWORK):
        yield _setting(name, environment.get(name), None, read.get(name))
    for key in sorted(filter(None, keys)):
        yield _setting(key, environment.get(key), None, read.get(key), is_secret=True)  # whatever it is called


def _default(settings: Settings, variable: str) -> str | None:
    """What holds where the variable is not set."""
    name = variable.lower()
    value = getattr(settings, name, getattr(settings, f"is_{name}", None))
    if isinstance(value, bool):
        return str(int(value))
    return None if value is None else str(value)


def _setting(
    name: str, given: str | None, default: str | None, read: str | None, *, is_secret: bool = False
) -> SettingValue:
    """`read` is what holds after files with secrets were read: it wins over a default, and a variable over it."""
    is_secret = is_secret or _SECRET.search(name) is not None
    value = given or read or default
    return SettingValue(
        name=name,
        value=None if value is None else MASK if is_secret else masked(value),
        source="environment" if given else "file" if read else "default",
        is_secret=is_secret,
    )


def masked(value: str) -> str:
    """An address without its password, and without options that are secrets."""
    return _SECRET_OPTION.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1:{MASK}@", value))
