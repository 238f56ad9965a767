"""`proctor serve`: the service."""

from __future__ import annotations

from importlib.util import find_spec

import click

from proctor.cli.options import data_option
from proctor.domain.errors import UserError


@click.command(short_help="Serve the API and the dashboard.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, metavar="N",
              help="The port; 0 takes a free one.")  # fmt: skip
@click.option("--open", "is_opening", is_flag=True, help="Open the dashboard in the browser.")
@click.option("--origin", metavar="URL", help="Address that people use, where it is another one.")
@click.option("--allowed-host", "names", multiple=True, metavar="NAME",
              help="Another name or address it may be called by, as by Prometheus inside a cluster.")  # fmt: skip
@click.option("--tls-certificate", metavar="FILE", help="Serve HTTPS with this certificate (and its chain).")
@click.option("--tls-key", metavar="FILE", help="The certificate's key, where it is not in the same file.")
@click.option("--tls-client-ca", metavar="FILE",
              help="Answer only clients with a certificate of these authorities.")  # fmt: skip
@click.option("--trusted-proxy", "proxies", multiple=True, metavar="ADDRESS",
              help="Whose X-Forwarded-For and X-Forwarded-Proto are believed.")  # fmt: skip
@click.option(
    "--accounts", is_flag=True, help="Everybody signs in, as beyond loopback, behind a proxy and once there is a user."
)
@data_option
def serve(
    host: str,
    port: int,
    is_opening: bool,
    origin: str | None,
    names: tuple[str, ...],
    tls_certificate: str | None,
    tls_key: str | None,
    tls_client_ca: str | None,
    proxies: tuple[str, ...],
    accounts: bool,
    data: str | None,
) -> None:
    """Serve the API under /api/v1, its documentation at /api/docs, and the dashboard.

    On a loopback address without users it needs nothing else: whoever reaches it is you. Elsewhere, behind a proxy,
    and once there is a user ('proctor users add'), everybody signs in; the first start prints a link for the first
    administrator.

    Runs that it accepts are executed on this machine. It ends with Ctrl-C or SIGTERM: requests in flight are finished,
    and what was not executed is on the next start.
    """
    from proctor.cli.context import context
    from proctor.offline import confined

    if find_spec("uvicorn") is None or find_spec("fastapi") is None:
        raise UserError("proctor serve needs more than is installed: pip install 'proctor[server]'.")
    from proctor.server.serving import ListenAddress, serve_until_told
    from proctor.settings import Settings

    settings = Settings.from_environment()
    with confined(settings.is_offline):
        place = ListenAddress(host, port, origin, tls_certificate, tls_key, proxies, accounts, tls_client_ca, names)
        serve_until_told(settings, context(data), place, is_opening=is_opening)
