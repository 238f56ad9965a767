"""Users, projects, members, keys and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query
from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.accounts.keys import create_key, obstacle_to_making, revoke_key, span_seconds
from proctor.accounts.people import add_user, invite, set_disabled
from proctor.accounts.projects import add_project, set_member
from proctor.accounts.showing import (
    list_keys,
    list_members,
    list_projects,
    list_users,
    show_audit,
    show_invitation,
    show_new_key,
    show_user,
)
from proctor.accounts.sign_in import projects_of
from proctor.domain.documents.accounts import (
    AuditPage,
    CreatedKey,
    InvitedUser,
    ListedKey,
    ListedMember,
    ListedProject,
    ListedUser,
)
from proctor.server.access import Caller, Me, Permission
from proctor.server.addresses import address_of
from proctor.server.bodies import body_of, takes
from proctor.server.documents import answers, json_answer
from proctor.server.pages import next_link
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.server.sign_in import foreign_project
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.users import UserStore
from proctor.stores.database import Database

router = resource("accounts")
Name = Annotated[str, Meta(min_length=1, max_length=100)]


class NewUser(Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    is_admin: bool = False


class UserChange(Struct, frozen=True, forbid_unknown_fields=True):
    is_disabled: bool


class NewProject(Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


class NewRole(Struct, frozen=True, forbid_unknown_fields=True):
    role: Name


class KeyRequest(Struct, frozen=True, forbid_unknown_fields=True):
    scopes: Annotated[list[Name], Meta(min_length=1, max_length=20)]
    name: Annotated[str, Meta(max_length=100)] = ""
    expires: Annotated[str, Meta(max_length=20)] | None = None
    """After a span such as 12h, 30d or 8w."""


class AuditQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: int = Field(0, ge=0, le=2**62)
    limit: int = Field(100, ge=1, le=1_000)


def _everything(request: Request) -> Database:
    """Accounts are the server's: what a caller may see of them is said by each route."""
    return service_of(request).database


# Users: the server's administrators


@router.get("/users", operation_id="listUsers", responses=answers(ListedUser, is_list=True))
def users(request: Request) -> Response:
    """List the users."""
    return json_answer(list_users(_everything(request)))


@router.post(
    "/users",
    status_code=201,
    operation_id="inviteUser",
    openapi_extra=takes(NewUser, {"name": "grace"}),
    responses=answers(InvitedUser, status=201, description="With the one-time link.", has_body=True),
)
def create_user(request: Request, caller: Me, body: Annotated[NewUser, Depends(body_of(NewUser))]) -> Response:
    """Invite a user: the link sets the password, once."""
    made = add_user(_everything(request), body.name, is_admin=body.is_admin, by=caller.who, address=address_of(request))
    return json_answer(show_invitation(made), 201)


@router.patch(
    "/users/{name}",
    operation_id="changeUser",
    openapi_extra=takes(UserChange, {"is_disabled": True}),
    responses=answers(ListedUser, problems=(404,), has_body=True),
)
def change_user(
    request: Request, name: str, caller: Me, body: Annotated[UserChange, Depends(body_of(UserChange))]
) -> Response:
    """Disable a user, or enable him again."""
    return json_answer(
        show_user(
            set_disabled(
                _everything(request), name, is_disabled=body.is_disabled, by=caller.who, address=address_of(request)
            )
        )
    )


@router.post(
    "/users/{name}/link", status_code=201, operation_id="linkUser",
    responses=answers(InvitedUser, status=201, description="A new one-time link.", problems=(404,)),
)  # fmt: skip
def link_user(request: Request, name: str, caller: Me) -> Response:
    """Make a new one-time link for a user; the one before no longer works."""
    database = _everything(request)
    user = UserStore(database).named(name)
    return json_answer(show_invitation(invite(database, user, by=caller.who, address=address_of(request))), 201)


# Projects and members


@router.get("/projects", operation_id="listProjects", responses=answers(ListedProject, is_list=True))
def projects(request: Request, caller: Me) -> Response:
    """List the projects that the caller belongs to."""
    database = _everything(request)
    return json_answer(list_projects(database, _own_projects(database, caller)))


@router.post(
    "/projects",
    status_code=201,
    operation_id="createProject",
    openapi_extra=takes(NewProject, {"name": "acme"}),
    responses=answers(ListedProject, status=201, has_body=True),
)
def create_project(request: Request, caller: Me, body: Annotated[NewProject, Depends(body_of(NewProject))]) -> Response:
    """Create a project; whoever creates it owns it."""
    database = _everything(request)
    add_project(database, body.name, by=caller.who, owner_id=caller.user_id, address=address_of(request))
    return json_answer(list_projects(database, [body.name])[0], 201)


@router.get(
    "/projects/{project}/members", operation_id="listMembers",
    responses=answers(ListedMember, is_list=True, problems=(404,)),
)  # fmt: skip
def members(request: Request, project: str, caller: Me) -> Response:
    """List who belongs to a project."""
    _refuse_foreign(caller, project)
    return json_answer(list_members(_everything(request), project))


@router.put(
    "/projects/{project}/members/{user}",
    operation_id="setMember",
    openapi_extra=takes(NewRole, {"role": "editor"}),
    responses=answers(ListedMember, is_list=True, problems=(404,), has_body=True),
)
def set_one(
    request: Request, project: str, user: str, caller: Me, body: Annotated[NewRole, Depends(body_of(NewRole))]
) -> Response:
    """Add a member or change his role."""
    _refuse_foreign(caller, project)
    database = _everything(request)
    set_member(database, project, user, body.role, by=caller.who, address=address_of(request))
    return json_answer(list_members(database, project))


@router.delete(
    "/projects/{project}/members/{user}", operation_id="removeMember",
    responses=answers(ListedMember, is_list=True, problems=(404,)),
)  # fmt: skip
def remove_one(request: Request, project: str, user: str, caller: Me) -> Response:
    """Remove a member."""
    _refuse_foreign(caller, project)
    database = _everything(request)
    set_member(database, project, user, None, by=caller.who, address=address_of(request))
    return json_answer(list_members(database, project))


# Keys of the caller's project


@router.get("/keys", operation_id="listKeys", responses=answers(ListedKey, is_list=True))
def keys(request: Request, caller: Me) -> Response:
    """List the keys of the project: never the keys themselves."""
    return json_answer(list_keys(_everything(request), caller.project))


@router.post(
    "/keys",
    status_code=201,
    operation_id="createKey",
    openapi_extra=takes(KeyRequest, {"scopes": ["run:read", "run:write"], "expires": "30d"}),
    responses=answers(CreatedKey, status=201, description="With the key, which is shown once.", has_body=True),
)
def make_key(request: Request, caller: Me, body: Annotated[KeyRequest, Depends(body_of(KeyRequest))]) -> Response:
    """Create a key for the project; it can do no more than who creates it, and one that a key creates not longer."""
    for scope in body.scopes:
        if scope in set(Permission) and Permission(scope) not in caller.permissions:
            raise ProblemError(403, "forbidden", f"{caller.who} lacks {scope}, and so would the key.")
    database, seconds = _everything(request), None if body.expires is None else span_seconds(body.expires)
    if caller.key_id is not None and (obstacle := obstacle_to_making(database, caller.key_id, seconds)) is not None:
        raise ProblemError(403, "forbidden", obstacle)
    made = create_key(
        database,
        caller.project,
        body.scopes,
        name=body.name,
        seconds=seconds,
        user_id=caller.user_id,
        by=caller.who,
        address=address_of(request),
    )
    return json_answer(show_new_key(made), 201)


@router.delete(
    "/keys/{key_id}", status_code=204, operation_id="revokeKey", responses=answers(status=204, problems=(404,))
)  # fmt: skip
def end_key(request: Request, key_id: str, caller: Me) -> Response:
    """Revoke a key: no later request is let through with it."""
    revoke_key(_everything(request), key_id, project=caller.project, by=caller.who, address=address_of(request))
    return Response(status_code=204)


@router.get("/audit", operation_id="listAudit", responses=answers(AuditPage, description="Oldest first."))
def audit(request: Request, query: Annotated[AuditQuery, Query()]) -> Response:
    """What was done with accounts, keys and projects: who, what, when, from where, with what outcome."""
    rows = AuditStore(_everything(request)).rows(query.after)
    found = [show_audit(row) for row, _ in zip(rows, range(query.limit + 1), strict=False)]
    more = str(found[query.limit - 1].number) if len(found) > query.limit else None
    return json_answer(AuditPage(found[: query.limit], more), headers=next_link(request, more))


def _own_projects(database: Database, caller: Caller) -> list[str] | None:
    if Permission.ADMIN in caller.permissions:
        return None
    user = None if caller.session is None else caller.session.user
    return [caller.project] if user is None else projects_of(database, user)


def _refuse_foreign(caller: Caller, project: str) -> None:
    """What is done to a project is done in it: another's is as unknown as one that there is not."""
    if project != caller.project and Permission.ADMIN not in caller.permissions:
        raise foreign_project(project)
