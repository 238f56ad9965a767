"""A comment made in a notebook stands on the run for everybody."""

from __future__ import annotations

import pytest

import proctor
from proctor.domain.errors import NotFoundError, UserError
from server.serving import Server


def test_a_comment_made_in_a_notebook_appears_on_the_run(server: Server, finished: str) -> None:
    pytest.importorskip("anywidget")
    shown = proctor.browse(finished, client=proctor.Client(server.address), wrong=True)
    result = shown.samples[0]["result_id"]
    shown.comment({"comment": "the scorer is right", "result_id": result})
    assert shown.notice == ""
    others = proctor.Client(server.address)
    [comment] = [one for one in others.comments(finished) if one.result_id == result]
    assert comment.text == "the scorer is right"
    others.comment(finished[:11], "I agree")
    assert "I agree" in [one["text"] for one in server.get(f"/api/v1/runs/{finished}/comments")["items"]]
    again = proctor.browse(finished, client=others, limit=2)
    assert len(again.samples) == 2
    ours = ["the scorer is right", "I agree"]  # others use this run, too
    assert [one["text"] for one in again.comments if one["text"] in ours] == ours


def test_a_server_says_what_it_does_not_take(server: Server, finished: str) -> None:
    client = proctor.Client(server.address)
    with pytest.raises(NotFoundError, match="has no result 999999"):
        client.comment(finished, "x", result_id="999999")
    with pytest.raises(UserError):
        client.comment(finished, "")
    with pytest.raises(NotFoundError):
        list(client.comments("zzz"))
