"""What tests of the wire share: an authority and a certificate from it, made once."""

from __future__ import annotations

from ssl import SSLContext

import pytest

from fakes.authority import Authority


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def certificate(authority: Authority) -> SSLContext:
    """A good one, for this machine and for the name that only proxies know."""
    return authority.serving()
