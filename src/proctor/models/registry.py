"""From a model's spec to the model, and the list of providers there are."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from proctor import plugins
from proctor.domain.errors import NotFoundError, PlanError, UserError
from proctor.domain.model import Model
from proctor.domain.plan import ModelSpec
from proctor.models.destinations import UnsendableError, is_loopback, place_of
from proctor.models.key_hosts import host_of
from proctor.models.provider import Provider
from proctor.models.proxies import UnusableProxyError, proxy_for
from proctor.offline import is_confined


class ProviderStatus(Struct, frozen=True):
    provider: Provider
    key_variable: str | None
    """The variable whose key is used, or would be; None when the provider has no key."""
    has_key: bool | None
    """Whether that variable is set; None when the provider has no key."""


def create_model(spec: ModelSpec, *, environment: Mapping[str, str], folder: Path, is_offline: bool = False) -> Model:
    """The model a spec names; raises a UserError when it cannot be used as written, or only beyond this machine."""
    try:
        model: Model = plugins.create("models", spec.provider, spec.name, spec.settings, environment, folder)
    except plugins.PluginNotFoundError as error:
        raise NotFoundError(f"No model provider {spec.provider!r}.{error.hint} Run 'proctor models'.") from None
    endpoint = model.identity.endpoint
    # An adapter connects to its endpoint and nowhere else: redirects are not followed, loopback goes past any proxy.
    if (is_offline or is_confined()) and endpoint is not None and not is_loopback(endpoint):
        raise PlanError(f"{spec.short} would be asked at {endpoint}; offline, only servers on this machine are.")
    if endpoint is not None and not is_loopback(endpoint):
        _refuse_unusable_proxy(spec, endpoint, environment)
    return model


def _refuse_unusable_proxy(spec: ModelSpec, endpoint: str, environment: Mapping[str, str]) -> None:
    """Else the first request would find out, when the run has begun."""
    try:
        proxy_for(place_of(endpoint), environment)
    except UnsendableError:
        return  # it is asked in another way than over HTTP, or its address is not known yet
    except UnusableProxyError as error:
        raise UserError(f"{spec.short}: {error}.") from None


def list_providers(environment: Mapping[str, str]) -> list[ProviderStatus]:
    """Every provider, built in and installed, in alphabetical order; plugins that fail are left out."""
    found = plugins.each("models", lambda name: _status(name, environment))
    return [found[name] for name in sorted(found)]


def named_hosts(specs: Iterable[ModelSpec]) -> tuple[str, ...]:
    """The hosts of models that the user named: keys may go there."""
    hosts = {host_of(_address(spec)): None for spec in specs}
    return tuple(host for host in hosts if host)


def _address(spec: ModelSpec) -> str:
    if spec.provider == "grpc":
        return f"grpc://{spec.name}"
    named = spec.settings.get("base_url") or spec.settings.get("url")
    if named is None and "auth_variable" in spec.settings and plugins.is_known("models", spec.provider):
        named = provider_of(spec.provider).base_url  # a key of the user's choice, for the provider's own address
    return str(named or "")


def provider_of(name: str) -> Provider:
    """What the adapter of that name says about itself."""
    factory = plugins.load("models", name)
    module = sys.modules[factory.__module__]
    provider = getattr(module, "PROVIDERS", {}).get(name) or getattr(module, "PROVIDER", None)
    if provider is None:
        summary = (factory.__doc__ or module.__doc__ or "").strip().partition("\n")[0]
        return Provider(name, summary)
    if not isinstance(provider, Provider):
        raise PlanError(f"PROVIDER of {module.__name__} is not a Provider but {type(provider).__name__}.")
    return provider


def _status(name: str, environment: Mapping[str, str]) -> ProviderStatus:
    provider = provider_of(name)
    variable = provider.variable_in(environment)
    return ProviderStatus(provider, variable, provider.has_key(environment))
