"""Whose vote a request brings: what blind asks show depends on it, wherever they are shown."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from proctor.accounts.sign_in import permissions_of
from proctor.runs.playground.showing import Reader
from proctor.server.access import Me, Permission
from proctor.server.service import service_of
from proctor.stores.accounts.users import UserStore

NOBODYS_KEYS = "keys without a user"
"""Who votes with them; no user can be called so."""


def _reader(request: Request, caller: Me) -> Reader:
    """One person votes once, and is shown names once he has: whichever of his keys or tokens he comes with.

    Keys that belong to nobody vote once together: whoever has one can be whoever has another, also where this one
    could not vote.
    """
    may_vote = Permission.RUN_WRITE in caller.permissions
    if caller.key_id is not None and caller.user_id is None:
        return Reader(NOBODYS_KEYS, may_vote=True)
    if caller.user_id is None or caller.session is not None:
        return Reader(caller.who, may_vote)
    database = service_of(request).database
    user = UserStore(database).get(caller.user_id)
    if user is None:
        return Reader(caller.who, may_vote)
    return Reader(user.name, Permission.RUN_WRITE.value in permissions_of(database, user, caller.project))


VotingReader = Annotated[Reader, Depends(_reader)]
