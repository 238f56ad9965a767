"""`proctor sandbox image`: the image that docker and podman containers are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from proctor.cli.echo import echo
from proctor.cli.options import as_json

if TYPE_CHECKING:
    from proctor.sandboxes.images import ImageStatus

_ENGINE = click.option("--engine", type=click.Choice(("docker", "podman")), default="docker", show_default=True)


@click.group(short_help="The image for docker and podman.")
def image() -> None:
    """The image for docker and podman: built from this machine's Python and Node.js; nothing is downloaded."""


@image.command("build")
@_ENGINE
@as_json
def build(engine: str, as_json: bool) -> None:
    """Build the image; build it again after an update of Python."""
    from proctor.sandboxes.containers import find_engine
    from proctor.sandboxes.images import build_image

    found = find_engine(engine)
    _show(build_image(found.client, engine), as_json=as_json)


@image.command("status")
@_ENGINE
@as_json
def status(engine: str, as_json: bool) -> None:
    """Show whether the engine has the image; exit code 1 when it has not."""
    from proctor.sandboxes.containers import find_engine
    from proctor.sandboxes.images import image_status

    found = image_status(find_engine(engine).client, engine)
    _show(found, as_json=as_json)
    if found.size_bytes is None:
        raise click.exceptions.Exit(1)


def _show(found: ImageStatus, *, as_json: bool) -> None:
    if as_json:
        from proctor.cli.context import print_json

        print_json(asdict(found))
    elif found.size_bytes is None:
        echo(f"{found.engine}: no image {found.name}; build it with 'proctor sandbox image build'")
    else:
        echo(f"{found.engine}: {found.name}, {found.size_bytes / 2**20:.0f} MiB")
