"""What the lists that were kept say of one model."""

from __future__ import annotations

from proctor.domain.listed_models import ListedAt, ModelLists
from proctor.domain.model import ModelIdentity


def find_listed(identity: ModelIdentity, lists: ModelLists) -> ListedAt | None:
    """What the newest list from the model's own address says of it, however old."""
    address = identity.endpoint or ""
    found = lists.find(identity.provider, identity.name)
    return next((one for one in found if address.startswith(f"{one.base_url.rstrip('/')}/")), None)
