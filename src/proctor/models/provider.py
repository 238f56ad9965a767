"""What an adapter says about itself: shown by 'proctor models', and used to find its key."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from proctor.domain.errors import MissingKeyError, UserError


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
    is_key_required: bool = True
    """Whether the provider's own address answers nobody without a key."""
    capabilities: Capabilities = Capabilities()
    settings: tuple[str, ...] = ()

    def variable_in(self, environment: Mapping[str, str]) -> str | None:
        """The variable whose key is used: the first that is set, else the usual one."""
        usual = self.key_variable
        others = (name for name in self.other_key_variables if _is_set(name, environment))
        return usual if usual is None or _is_set(usual, environment) else next(others, usual)


def _is_set(variable: str, environment: Mapping[str, str]) -> bool:
    return bool(environment.get(variable, "").strip())


def find_key(
    provider: Provider, environment: Mapping[str, str], *, model: str, base_url: str, variable: str | None
) -> str | None:
    """The key to send, if any; raises when the provider's own address needs one that is not set."""
    wanted = variable or provider.variable_in(environment)
    key = environment.get(wanted, "").strip() if wanted else ""
    if key:
        if not (key.isascii() and key.isprintable()):
            raise UserError(f"The key in {wanted} holds characters no key has: copy it again.")
        return key
    is_own_host = provider.base_url is not None and urlsplit(base_url).hostname == urlsplit(provider.base_url).hostname
    if wanted and (variable is not None or (provider.is_key_required and is_own_host)):
        raise MissingKeyError(
            f"{provider.name}/{model} needs a key: set the environment variable {wanted}, "
            f"or give base_url for a server that needs none.",
            wanted,
        )
    return None
