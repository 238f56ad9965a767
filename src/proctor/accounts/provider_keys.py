"""Keys of projects for providers: sealed in the store, each for one address, used by the project's runs alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from proctor.accounts.sealing import Sealer, require_secret
from proctor.domain.documents.provider_keys import ListedProviderKey
from proctor.domain.errors import PlanError, UserError, did_you_mean
from proctor.domain.scope import LOCAL, Scope
from proctor.models.key_hosts import KEY_HOSTS, bound_key, host_of, is_named, origin_of
from proctor.models.provider import Provider
from proctor.models.registry import list_providers
from proctor.models.settings import clean_url
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.sealed import seal_anew
from proctor.stores.accounts.users import ProjectStore
from proctor.stores.database import Database
from proctor.stores.provider_keys import ProviderKeyRow, ProviderKeyStore

MAX_KEY = 10_000


class ProjectKeys:
    """Opens the keys of projects for their runs; in the processes that execute, and where plans are checked."""

    def __init__(self, database: Database, environment: Mapping[str, str]) -> None:
        self._database, self._environment = database, environment

    def of_project(self, project: str) -> Mapping[str, str]:
        """Each key under the name that only the model at its address asks for."""
        rows = ProviderKeyStore(_within(self._database, project)).of_project()
        if not rows:
            return {}
        sealer = Sealer(require_secret(self._environment, f"Using the provider keys of project {project}"))
        return {
            bound_key(row.provider, row.origin): "" if row.sealed is None else sealer.open(row.sealed, _binding(row))
            for row in rows
        }


def set_provider_key(
    database: Database,
    environment: Mapping[str, str],
    provider: str,
    key: str | None,
    *,
    base_url: str | None = None,
    is_operator: bool,
    by: str,
    address: str = "",
) -> ListedProviderKey:
    """Keep a key for the project of this handle, or replace it; None is a connection to a server that wants none.

    Raises UserError for an address that only the operator can name: keys and requests go to the provider's own, or to
    hosts that he lists.
    """
    found = _provider(provider)
    url = clean_url(base_url or found.base_url or "", provider)
    is_own = found.base_url is not None and origin_of(url) == origin_of(found.base_url)
    if not is_operator and not is_own and not is_named(url, environment):
        raise PlanError(
            f"{host_of(url) or url} is not an address of {provider}. The operator allows others: {KEY_HOSTS} in the "
            f"environment of the server, or 'proctor provider-keys set {provider} --base-url …' on its machine."
        )
    project, origin = database.scope.owner, origin_of(url)
    ProjectStore(database).require(project)
    sealed = None
    if key is not None:
        refuse_unusable_key(key)
        sealer = Sealer(require_secret(environment, "Keeping keys of providers"))
        sealed = sealer.seal(key.strip(), (project, provider, origin))
    row = ProviderKeyStore(database).put(provider, origin, url, sealed, by)
    AuditStore(database).add(by, "set-provider-key", of=f"{provider} {origin}", project=project, address=address)
    return show_provider_key(row)


def remove_provider_key(database: Database, connection_id: str, *, by: str, address: str = "") -> None:
    """Runs that begin later do not have it."""
    row = ProviderKeyStore(database).remove(connection_id)
    of = f"{row.provider} {row.origin}"
    AuditStore(database).add(by, "remove-provider-key", of=of, project=row.project, address=address)


def list_provider_keys(database: Database) -> list[ListedProviderKey]:
    """Which keys the project has, and where they go; never a key."""
    return [show_provider_key(row) for row in ProviderKeyStore(database).of_project()]


def registered_origins(database: Database, provider: str) -> Collection[str]:
    """Where the project may have models of this provider asked, beside the provider's own address."""
    return {row.origin for row in ProviderKeyStore(database).of_project() if row.provider == provider}


def seal_all_anew(database: Database, environment: Mapping[str, str], *, by: str) -> int:
    """Seal with the current secret whatever was sealed with an earlier one; gives how much there was."""
    sealer = Sealer(require_secret(environment, "Sealing anew"))
    count = seal_anew(database, sealer.renew)
    AuditStore(database).add(by, "seal-anew", of=str(count))
    return count


def show_provider_key(row: ProviderKeyRow) -> ListedProviderKey:
    has_key = row.sealed is not None
    return ListedProviderKey(row.id, row.project, row.provider, row.base_url, has_key, row.created_at, row.author)


def refuse_unusable_key(key: str) -> None:
    """Raises UserError, without the key in it."""
    if not (0 < len(key.strip()) <= MAX_KEY and key.strip().isascii() and key.strip().isprintable()):
        raise UserError("The key is empty, or holds characters no key has: copy it again.")


def _provider(name: str) -> Provider:
    known = {one.provider.name: one.provider for one in list_providers({}) if one.key_variable is not None}
    if name not in known:
        hint = did_you_mean(name, known)
        raise UserError(f"There is no provider {name!r} that takes a key.{hint} There are: {', '.join(known)}.")
    found = known[name]
    if found.base_url is not None and urlsplit(found.base_url).scheme not in ("http", "https"):
        raise UserError(f"{name} is not asked over HTTP.")
    return found


def _binding(row: ProviderKeyRow) -> tuple[str, str, str]:
    return row.project, row.provider, row.origin


def _within(database: Database, project: str) -> Database:
    """The handle as it is where it shows nothing else, else one that shows the project alone."""
    return database if database.scope.project == project else database.within(Scope(project or LOCAL))
