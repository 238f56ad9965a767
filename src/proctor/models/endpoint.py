"""Where a hosted model is and how it is let in: address, key, and what its errors are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from proctor.domain.errors import PlanError
from proctor.domain.model import Allowance
from proctor.models.destinations import is_loopback
from proctor.models.faults import Target
from proctor.models.key_hosts import host_of, is_own, with_key_hosts
from proctor.models.parts import Accepts
from proctor.models.provider import Provider, find_key
from proctor.models.settings import clean_url


class HostedSettings(Struct, frozen=True):
    """The settings that every hosted provider has."""

    base_url: str | None = None
    stream: bool = False
    auth_variable: str | None = None
    """The environment variable with the key; empty: none is sent."""
    images: bool = True
    documents: Literal["native", "text"] | None = None
    rpm: float | None = None
    """Most requests a minute."""
    tpm: float | None = None
    """Most tokens a minute, input and output together."""

    def accepts(self, *, has_documents: bool) -> Accepts:
        """What the model takes natively, unless the settings say otherwise."""
        return Accepts(self.images, has_documents if self.documents is None else self.documents == "native")

    def allowance(self, model: str) -> Allowance:
        """How fast the model may be asked; raises PlanError for a speed that is none."""
        for name in ("rpm", "tpm"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise PlanError(f"{model}: the setting {name!r} must be more than 0, not {value:g}.")
        return Allowance(self.rpm, self.tpm)


HOSTED_DECIDING = ("documents",)
"""Those that can change an answer; the address is part of the identity anyway."""


class Endpoint(Struct, frozen=True):
    base_url: str
    key: str | None
    target: Target
    is_own: bool
    """Whether this is the provider's own address, not another server that speaks its dialect."""


def find_endpoint(provider: Provider, name: str, settings: HostedSettings, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint a model is asked at; raises a UserError when the address or the key will not do."""
    usual = environment.get(provider.base_url_variable or "", "").strip()
    base_url = clean_url(settings.base_url or usual or provider.base_url or "", provider.name)
    if usual and not settings.base_url:
        environment = with_key_hosts(environment, [host_of(usual)])
    key = find_key(provider, environment, model=name, base_url=base_url, variable=settings.auth_variable)
    variable = settings.auth_variable or provider.variable_in(environment)
    if key is None and is_loopback(base_url) and not is_loopback(provider.base_url or ""):
        variable = None  # setting it would not help
    target = Target(f"{provider.name}/{name}", variable, (key,) if key else ())
    return Endpoint(base_url, key, target, is_own(base_url, provider.base_url))


def bearer(endpoint: Endpoint) -> dict[str, str]:
    return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
