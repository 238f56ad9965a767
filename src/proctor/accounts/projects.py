"""Projects, and who belongs to them."""

from __future__ import annotations

from proctor.domain.errors import UserError, did_you_mean
from proctor.domain.role import Role
from proctor.domain.scope import check_project_name
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.users import ProjectStore, UserStore
from proctor.stores.database import Database


def add_project(database: Database, name: str, *, by: str, owner_id: str | None = None, address: str = "") -> None:
    """A new project; raises UserError for a name that is taken or cannot be one."""
    store = ProjectStore(database)
    store.add(check_project_name(name))
    if owner_id is not None:
        store.set_role(name, owner_id, Role.OWNER)
    AuditStore(database).add(by, "add-project", of=name, project=name, address=address)


def set_member(database: Database, project: str, user: str, role: str | None, *, by: str, address: str = "") -> None:
    """Add a member or change his role; None removes him. A project keeps an owner once it has one."""
    store = ProjectStore(database)
    store.require(project)
    known = [one.value for one in Role]
    if role is not None and role not in known:
        raise UserError(f"There is no role {role!r}.{did_you_mean(role, known)} There are: {', '.join(known)}.")
    found = UserStore(database).named(user)
    owners = {row.user_id for row in store.members(project) if row.role is Role.OWNER}
    if owners == {found.id} and role != Role.OWNER:
        raise UserError(f"{user} is the only owner of {project}: make another one first.")
    store.set_role(project, found.id, None if role is None else Role(role))
    outcome = "removed" if role is None else role
    AuditStore(database).add(by, "set-member", of=user, project=project, address=address, outcome=outcome)
