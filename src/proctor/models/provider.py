"""What an adapter says about itself: shown by 'proctor models', and used to find its key."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from proctor.domain.errors import MissingKeyError, UserError
from proctor.models.destinations import is_loopback
from proctor.models.key_hosts import bound_key, is_named, is_own, refuse_key


class Capabilities(Struct, frozen=True):
    """What can be asked through an adapter; whether a given model can do it is the provider's to say."""

    streaming: bool = False
    images: bool = False
    documents: bool = False
    tools: bool = False
    logprobs: bool = False
    structured_output: bool = False


class Provider(Struct, frozen=True):
    name: str
    description: str
    key_variable: str | None = None
    """The environment variable that holds the key; None when there is none to have."""
    other_key_variables: tuple[str, ...] = ()
    """Read where the first is not set."""
    base_url: str | None = None
    base_url_variable: str | None = None
    """The environment variable that names another address for all its models."""
    is_key_required: bool = True
    """Whether the provider's own address answers nobody without a key."""
    capabilities: Capabilities = Capabilities()
    is_free: bool = False
    """Whether nothing it answers is billed to anybody."""
    has_uniform_models: bool = False
    """Whether each of its models can do all that can be asked for: only where Proctor itself serves them."""
    settings: tuple[str, ...] = ()

    def variable_in(self, environment: Mapping[str, str]) -> str | None:
        """The variable whose key is used: the first that is set, else the usual one."""
        usual = self.key_variable
        others = (name for name in self.other_key_variables if _is_set(name, environment))
        return usual if usual is None or _is_set(usual, environment) else next(others, usual)

    def has_key(self, environment: Mapping[str, str]) -> bool | None:
        """Whether there is one for the provider's own address; None for a provider that has no key."""
        if self.key_variable is None:
            return None
        is_bound = self.base_url is not None and bool(environment.get(bound_key(self.name, self.base_url)))
        return is_bound or _is_set(self.variable_in(environment) or "", environment)


def _is_set(variable: str, environment: Mapping[str, str]) -> bool:
    return bool(environment.get(variable, "").strip())


def find_key(
    provider: Provider, environment: Mapping[str, str], *, model: str, base_url: str, variable: str | None
) -> str | None:
    """The key to send, if any; raises where it may not go there, or where one is needed that is not set.

    `variable` is the one that the model's settings name; an empty one means that no key is sent.
    """
    if variable is None and (bound := environment.get(bound_key(provider.name, base_url))) is not None:
        return bound or None  # the project's own, for this very address
    wanted = variable if variable is not None else provider.variable_in(environment)
    if not wanted:
        return None
    key = environment.get(wanted, "").strip()
    own = is_own(base_url, provider.base_url)
    if not key:
        if variable is None and not (provider.is_key_required and own):
            return None
        raise MissingKeyError(
            f"{provider.name}/{model} needs a key: set the environment variable {wanted}, "
            f"or give base_url for a server that needs none.",
            wanted,
        )
    if is_loopback(base_url):
        # A server on this machine gets a key that is meant for it, not the one of a provider it stands in for.
        if variable is None and not is_loopback(provider.base_url or ""):
            return None
    elif not (is_named(base_url, environment) or (own and variable is None)):
        otherwise = "; 'auth_variable=' (empty) sends no key"
        raise refuse_key(f"{provider.name}/{model}", wanted, base_url, otherwise)
    if not (key.isascii() and key.isprintable()):
        raise UserError(f"The key in {wanted} holds characters no key has: copy it again.")
    return key
