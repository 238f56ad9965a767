"""One prompt to several models: parallel, streamed, kept while it grows, and blind where that is asked for."""

from __future__ import annotations

import signal
import struct
import time
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakes.dialect import Ask, Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from models.pdfs import pdf
from proctor.accounts.keys import create_key
from proctor.accounts.people import add_user
from proctor.accounts.projects import add_project, set_member
from proctor.domain.scope import Scope
from proctor.stores.database import open_database
from proctor.stores.playground import PlaygroundStore
from server.asking import PLAYGROUND, Heard, begin, finished, followed, heard, read
from server.serving import Server, serving


def png() -> bytes:
    """One black pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


PNG = png()
LONG = " ".join(f"word{n}" for n in range(24))


def model(provider: FakeProvider, name: str = "m") -> str:
    return f"openai/{name}?base_url={provider.url}/v1"


def replying(ask: Ask) -> Reply:
    if "picture" in ask.text:
        return Reply(f"seen {len(ask.body['messages'][-1]['content'])} parts")
    if "json" in ask.text:
        return Reply('{"sum": "seven"}' if ask.model.startswith("odd") else '{"sum": 7}')
    if "echo" in ask.text:
        return Reply(ask.text)
    return Reply(f"{ask.model} says: {LONG}")


@pytest.fixture(scope="module")
def fast() -> Iterator[FakeProvider]:
    with FakeProvider(reply=replying) as found:
        yield found


@pytest.fixture(scope="module")
def slow() -> Iterator[FakeProvider]:
    with FakeProvider(reply=replying) as found:
        found.event_seconds = 0.1
        yield found


@pytest.fixture(scope="module")
def broken() -> Iterator[FakeProvider]:
    with FakeProvider(Faults(rates={"500": 1.0})) as found:
        yield found


def test_a_failing_and_a_slow_model_delay_no_other(
    server: Server, fast: FakeProvider, slow: FakeProvider, broken: FakeProvider
) -> None:
    ask = begin(server, model(slow, "slow"), model(broken, "broken"), model(fast, "one"), model(fast, "two"))
    found = heard(server, ask["ask_id"])
    assert found.has_end
    assert sorted(found.started) == ["a", "b", "c", "d"]
    ends = [answer for name, answer in found.order if name in ("complete", "error")]
    assert ends[-1] == "a", "the slow one came last"
    fast_end = max(found.order.index(("complete", answer)) for answer in "cd")
    deltas_after = [one for one in found.order[fast_end:] if one == ("delta", "a")]
    assert len(deltas_after) > 3, "the slow one had hardly begun when the quick ones were complete"
    assert found.ended["b"].name == "error"
    assert "500" in found.ended["b"].data["error"]
    document = read(server, ask["ask_id"])
    assert document["is_finished"]
    for answer in document["answers"]:
        assert found.texts[answer["answer"]] == answer["text"]
        assert (answer["state"] == "failed") == (answer["answer"] == "b")
    slowest, _, quick, _ = document["answers"]
    assert quick["text"] == f"one says: {LONG}"
    assert slowest["latency_seconds"] > 3 * quick["latency_seconds"]
    assert 0 < quick["first_token_seconds"] <= quick["latency_seconds"]
    assert quick["usage"]["output_tokens"] == 7
    assert quick["cost_usd"] is None, "nobody knows the price"


def test_a_stream_that_is_opened_again_has_neither_gap_nor_repeat(
    server: Server, fast: FakeProvider, slow: FakeProvider
) -> None:
    ask_id = begin(server, model(slow, "slow"), model(fast, "quick"))["ask_id"]
    found, after, times = Heard(), "", 0
    while not found.has_end:
        with followed(server, ask_id, after) as events:
            for count, event in enumerate(events):
                found.take(event)
                after = event.id
                if count == 2:
                    times += 1
                    break
    assert times > 3
    assert found.started == sorted(found.started)
    texts = {answer["answer"]: answer["text"] for answer in read(server, ask_id)["answers"]}
    assert found.texts == texts
    assert heard(server, ask_id).texts == texts, "whoever comes later is given the same"


def test_answers_come_as_the_answer_to_the_very_request_that_asks(server: Server, fast: FakeProvider) -> None:
    body = {"models": [model(fast)], "prompt": "What is 1 + 1?"}
    connection, response = server.open("POST", PLAYGROUND, body, {"Accept": "text/event-stream"})
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-accel-buffering"] == "no"
    assert b"event: complete" in response.read()
    connection.close()


def test_a_killed_server_loses_no_text_and_says_what_it_left_unfinished(tmp_path: Path, slow: FakeProvider) -> None:
    home = tmp_path / "home"
    found = Heard()
    with suppress(AssertionError), serving(home, tmp_path) as server:  # it does not end well: it is killed
        ask_id = begin(server, model(slow, "slow"), "demo/strong")["ask_id"]
        with followed(server, ask_id) as events:
            for event in events:
                found.take(event)
                if len(found.texts["a"]) > 60:
                    break
        database = open_database(f"sqlite:///{home / 'proctor.db'}")
        store, kept, until = PlaygroundStore(database), "", time.monotonic() + 60
        while len(kept) < len(found.texts["a"]) and time.monotonic() < until:
            kept = store.get(ask_id).answers[0].text
        server.process.kill()
        server.process.wait(60)
    assert server.process.returncode == -signal.SIGKILL
    with database.connection() as connection:  # as if it had been down for long
        connection.execute("UPDATE playground_answers SET beat_at = beat_at - 60")
    database.dispose()
    before = found.texts["a"]
    assert kept.startswith(before)
    with serving(home, tmp_path) as again:
        assert heard(again, ask_id, found.last, found).has_end
        stored = {answer["answer"]: answer for answer in read(again, ask_id)["answers"]}
    assert found.ended["a"].name == "error"
    assert "Ask again" in found.ended["a"].data["error"]
    assert found.texts["a"] == stored["a"]["text"]
    assert f"slow says: {LONG}".startswith(found.texts["a"])
    assert stored["b"]["state"] == "complete"


def test_a_server_that_is_told_to_end_writes_down_what_it_has(tmp_path: Path, slow: FakeProvider) -> None:
    home = tmp_path / "home"
    with serving(home, tmp_path) as server:
        ask_id = begin(server, model(slow, "slow"))["ask_id"]
        with followed(server, ask_id) as events:
            [event for event, _ in zip(events, range(6), strict=False)]
    with serving(home, tmp_path) as again:
        [answer] = read(again, ask_id)["answers"]
    assert answer["state"] == "failed"
    assert "The server ended" in answer["error"]
    assert answer["text"].startswith("slow says")


def test_one_answer_is_stopped_or_all_of_them(server: Server, fast: FakeProvider, slow: FakeProvider) -> None:
    ask_id = begin(server, model(slow, "slow"), model(slow, "slower"), model(fast, "quick"))["ask_id"]
    with followed(server, ask_id) as events:
        next(event for event in events if event.name == "delta" and event.data["answer"] == "a")
    stopped = server.post(f"{PLAYGROUND}/{ask_id}/stop", {"answers": ["a"]})
    assert stopped.status == 200
    assert {one["answer"]: one["state"] for one in stopped.json["answers"]}["a"] == "stopped"
    assert not stopped.json["is_finished"]
    assert server.post(f"{PLAYGROUND}/{ask_id}/stop", {}).json["is_finished"]
    states = {one["answer"]: (one["state"], bool(one["text"])) for one in read(server, ask_id)["answers"]}
    assert states["a"] == ("stopped", True)
    assert states["b"][0] == "stopped"
    assert heard(server, ask_id).ended["a"].data["state"] == "stopped"


def test_a_cap_is_kept_before_anything_is_sent(server: Server, fast: FakeProvider) -> None:
    def refusal(**fields: Any) -> Any:
        answer = server.post(PLAYGROUND, {"models": [model(fast, "gpt-5")], "prompt": "Hello", **fields})
        assert answer.status == 422, answer.body
        return answer.json

    asked = fast.counts()["asked"]
    assert "the price of" in refusal(cost_usd=1)["detail"]
    unlimited = refusal(cost_usd=1, assume_price="1/2")
    assert "may be of any length" in unlimited["detail"]
    assert unlimited["errors"][0]["pointer"] == "/models/0"
    dear = refusal(cost_usd=0.001, assume_price="1/2", options={"max_tokens": 1000})
    assert "could cost up to $0.00" in dear["detail"]
    assert dear["errors"][0]["pointer"] == "/cost_usd"
    assert fast.counts()["asked"] == asked
    ask = finished(
        server, model(fast, "gpt-5"), cost_usd=1, assume_price="1/2", options={"max_tokens": 1000}
    )  # fmt: skip
    [answer] = ask["answers"]
    assert answer["cost_usd"] == ask["cost_usd"] == pytest.approx((11 * 1 + 7 * 2) / 1e6)
    assert answer["cost_basis"] == "assumed"


def test_every_kind_makes_its_own_request_and_has_its_own_view(server: Server, fast: FakeProvider) -> None:
    picture = {"data": b64encode(PNG).decode(), "name": "dot.png"}
    paper = {"data": b64encode(pdf(["Paris is in France."])).decode(), "name": "paper.pdf"}
    note = {"data": b64encode(b"The word is plover.").decode(), "name": "note.txt"}
    seen = finished(server, model(fast), kind="image", prompt="a picture", images=[picture])
    assert seen["answers"][0]["text"] == "seen 2 parts"
    assert seen["view"]["files"] == [
        {"position": 0, "name": "dot.png", "media_type": "image/png", "bytes": len(PNG), "pages": None,
         "characters": None, "width": 1, "height": 1}
    ]  # fmt: skip
    kept = server.ask("POST", "/api/v1/files?name=dot.png", PNG, Content_Type="application/octet-stream").json
    uploaded = finished(server, model(fast), kind="image", prompt="a picture", images=[{"file": kept["file_id"]}])
    assert uploaded["view"] == seen["view"]
    shown = server.ask("GET", f"{PLAYGROUND}/{seen['ask_id']}/files/0")
    assert (shown.body, shown.headers["content-type"]) == (PNG, "image/png")
    assert "sandbox" in shown.headers["content-security-policy"]
    document = finished(server, "demo/strong", kind="pdf", prompt="Where is Paris?", documents=[paper])
    assert (document["view"]["files"][0]["pages"], document["view"]["files"][0]["media_type"]) == (1, "application/pdf")
    text = finished(server, model(fast), prompt="echo", texts=[note])
    assert "The word is plover." in text["answers"][0]["text"]
    schema = {"type": "object", "properties": {"left": {"type": "integer"}}, "required": ["left"]}
    answer_schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    structured = finished(
        server, model(fast), model(fast, "odd"), kind="structured", prompt="json", input={"left": 3},
        input_schema=schema, answer_schema=answer_schema,
    )  # fmt: skip
    assert structured["view"]["input"] == {"left": 3}
    assert structured["answers"][0]["schema_problems"] == []
    assert "seven" in structured["answers"][1]["schema_problems"][0]
    assert '"left": 3' in fast.requests[-1].json["messages"][-1]["content"]


def test_uploaded_files_are_no_way_past_the_size_of_a_request(server: Server) -> None:
    large = b"a line of text\n" * 140_000
    kept = server.ask("POST", "/api/v1/files?name=large.txt", large, Content_Type="application/octet-stream").json
    asked = {"models": ["demo/strong"], "prompt": "Hello", "texts": [{"file": kept["file_id"]}] * 12}
    answer = server.post(PLAYGROUND, asked)
    assert (answer.status, "24,000,000 bytes" in answer.json["detail"]) == (413, True)
    assert finished(server, "demo/strong", texts=[{"file": kept["file_id"]}])["view"]["files"][0]["bytes"] == len(large)


@pytest.mark.parametrize(
    ("fields", "where", "said"),
    [
        ({"models": []}, "/models", "length >= 1"),
        ({"models": ["opnai/x"]}, "/models/0", "Did you mean 'openai'"),
        ({"models": ["demo/strng"]}, "/models/0", "Did you mean 'strong'"),
        ({"prompt": " "}, "/prompt", "nothing to ask"),
        ({"options": {"temprature": 1}}, "/options", "temprature"),
        ({"promt": "x"}, "/promt", "Did you mean 'prompt'"),
        ({"kind": "image", "images": [{"data": b64encode(b"text").decode()}]}, "/images/0", "is not an image"),
        ({"kind": "image", "images": [{"data": "!!"}]}, "/images/0", "ase64"),
        ({"kind": "image", "images": [{}]}, "/images/0", "either its data"),
        ({"kind": "image", "images": [{"file": "f-nosuch"}]}, "/images/0", "f-nosuch"),
        (
            {"kind": "pdf", "documents": [{"data": b64encode(b"%PDF-1.7 x").decode()}]},
            "/documents/0",
            "no PDF that can be opened",
        ),
        ({"kind": "structured", "input": {"n": 1}, "input_schema": {"type": "array"}}, "/input", "does not fit"),
        ({"answer_schema": {"type": 7}}, "/answer_schema", "schema"),
    ],
)
def test_a_mistake_says_where_it_is(server: Server, fields: dict[str, Any], where: str, said: str) -> None:
    answer = server.post(PLAYGROUND, {"models": ["demo/strong"], "prompt": "x", **fields})
    assert answer.status == 422, answer.body
    assert said in answer.json["detail"]
    assert [one["pointer"] for one in answer.json["errors"]] == [where]


def test_a_request_that_is_sent_again_asks_once(server: Server, fast: FakeProvider) -> None:
    body = {"models": [model(fast)], "prompt": "once"}
    first = server.post(PLAYGROUND, body, Idempotency_Key="ask-1")
    again = server.post(PLAYGROUND, body, Idempotency_Key="ask-1")
    assert first.json["ask_id"] == again.json["ask_id"]
    other = server.post(PLAYGROUND, {**body, "prompt": "twice"}, Idempotency_Key="ask-1")
    assert other.status == 422
    notes = [{**body, "texts": [{"data": b64encode(text).decode()}]} for text in (b"one", b"two")]
    assert [server.post(PLAYGROUND, note, Idempotency_Key="ask-2").status for note in notes] == [202, 422]


def test_an_ask_is_found_again_deleted_and_becomes_data_and_a_plan(server: Server, fast: FakeProvider) -> None:
    ask = finished(server, "demo/strong", "demo/weak", system="Be short.", options={"temperature": 0})
    [newest, *_] = server.get(f"{PLAYGROUND}?limit=1")["items"]
    assert (newest["ask_id"], newest["models"]) == (ask["ask_id"], ["demo/strong", "demo/weak"])
    sample = server.get(f"{PLAYGROUND}/{ask['ask_id']}/sample?target=a")
    assert sample["target"] == ask["answers"][0]["text"]
    assert sample["input"][0] == {"role": "system", "content": "Be short."}
    (server.folder / "asked.jsonl").write_bytes(orjson.dumps(sample))
    (server.folder / "asked.yaml").write_text("name: asked\ndataset: {source: asked.jsonl}\nscorers: [exact]\n")
    plan = server.get(f"{PLAYGROUND}/{ask['ask_id']}/plan?benchmark={server.folder}/asked.yaml")["plan"]
    assert plan["sampling"] == {"temperature": 0}
    run = server.get(f"/api/v1/runs/{server.run(plan)}")
    assert run["evaluations"][0]["metrics"]["accuracy"]["value"] == 1.0
    assert server.ask("DELETE", f"{PLAYGROUND}/{ask['ask_id']}").status == 204
    assert server.ask("GET", f"{PLAYGROUND}/{ask['ask_id']}").status == 404


@pytest.mark.parametrize("cursor", ["nonsense", "1", "1.2.3", "-.e", "-1.2"])
def test_a_foreign_last_event_id_is_refused(server: Server, cursor: str) -> None:
    ask_id = finished(server, "demo/strong", "demo/weak")["ask_id"]
    answer = server.ask("GET", f"{PLAYGROUND}/{ask_id}/events", Last_Event_ID=cursor)
    assert answer.status == 422


def test_nothing_tells_who_is_who_before_the_vote(server: Server, fast: FakeProvider, slow: FakeProvider) -> None:
    orders = set()
    for _ in range(12):
        ask_id = begin(server, model(slow, "gpt-x"), model(fast, "gpt-y"), prompt="json", is_blind=True)["ask_id"]
        blind = server.ask("GET", f"{PLAYGROUND}/{ask_id}/events").body
        hidden = server.ask("GET", f"{PLAYGROUND}/{ask_id}")
        answers = orjson.dumps(hidden.json["answers"])
        for mark in (b"gpt-x", b"gpt-y", fast.url.encode(), slow.url.encode()):
            assert mark not in blind
            assert mark not in answers
        for answer in hidden.json["answers"]:
            told = {name for name, value in answer.items() if value is not None}
            assert told <= {"answer", "state", "text", "tool_calls"}
        assert hidden.json["cost_usd"] is None
        voted = server.post(f"{PLAYGROUND}/{ask_id}/votes", {"best": ["a"]})
        assert voted.status == 201
        assert voted.json["is_revealed"]
        orders.add(tuple(answer["model"] for answer in voted.json["answers"]))
        if len(orders) == 2:
            break
    assert len(orders) == 2, "which letter a model has is drawn"
    assert server.post(f"{PLAYGROUND}/{ask_id}/votes", {"best": ["b"]}).status == 409


def test_blind_answers_grow_together(server: Server, fast: FakeProvider, slow: FakeProvider) -> None:
    ask_id = begin(server, model(slow, "slow"), model(fast, "quick"), is_blind=True)["ask_id"]
    found = Heard()
    early = server.post(f"{PLAYGROUND}/{ask_id}/votes", {"best": ["a"]})
    assert (early.status, "Not all answers have come" in early.json["detail"]) == (422, True)
    with followed(server, ask_id) as events:
        for event in events:
            found.take(event)
            if found.texts and not found.ended and event.name == "delta":
                # Both are told of in one go; between the two events one is ahead by what that go brought.
                assert abs(len(found.texts["a"]) - len(found.texts["b"])) <= 90
                assert not read(server, ask_id)["answers"][0]["model"]
    assert found.has_end
    assert found.texts == {one["answer"]: one["text"] for one in read(server, ask_id)["answers"]}


def test_which_blind_answer_is_ready_first_is_not_told_by_its_line_of_data(
    server: Server, fast: FakeProvider, slow: FakeProvider
) -> None:
    ask_id = begin(server, model(slow, "slow"), model(fast, "quick"), is_blind=True)["ask_id"]
    kept = open_database(f"sqlite:///{server.home / 'proctor.db'}")
    store = PlaygroundStore(kept)
    deadline = time.monotonic() + 60
    while "complete" not in {one.state for one in store.get(ask_id).answers}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    early = [server.ask("GET", f"{PLAYGROUND}/{ask_id}/sample?target={slot}") for slot in "ab"]
    states = {one.state for one in store.get(ask_id).answers}
    kept.dispose()
    assert states & {"waiting", "streaming"}, "one answer was ready, and the other was not"
    assert [one.status for one in early] == [422, 422]
    assert early[0].json["detail"] == early[1].json["detail"]
    assert server.ask("GET", f"{PLAYGROUND}/{ask_id}/sample").status == 200
    heard(server, ask_id)
    assert LONG in server.get(f"{PLAYGROUND}/{ask_id}/sample?target=a")["target"]


def test_votes_are_ranked_with_intervals(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path) as server:
        for round_ in range(6):
            ask_id = finished(server, "demo/strong", "demo/weak", "demo/guesser", is_blind=True)["ask_id"]
            if round_ == 5:  # seen before it was voted on: it does not count
                names = server.post(f"{PLAYGROUND}/{ask_id}/reveal")
                assert names.json["is_revealed"]
            slots = "abc"
            assert server.post(f"{PLAYGROUND}/{ask_id}/votes", {"best": [slots[round_ % 3]]}).status == 201
        ranking = server.get(f"{PLAYGROUND}/ranking")
        everything = server.get(f"{PLAYGROUND}/ranking?votes=all")
    assert (ranking["votes"], everything["votes"]) == (5, 6)
    assert len(ranking["models"]) == 3
    for one in ranking["models"]:
        assert one["ci95"][0] < one["rating"] < one["ci95"][1]
    assert sum(one["wins"] for one in ranking["models"]) == sum(one["losses"] for one in ranking["models"]) == 10


def test_a_vote_names_answers_that_came(server: Server, broken: FakeProvider) -> None:
    ask_id = finished(server, "demo/strong", "demo/weak", model(broken))["ask_id"]
    for best, said in ((["z"], "no answer 'z'"), (["c"], "did not come")):
        answer = server.post(f"{PLAYGROUND}/{ask_id}/votes", {"best": best})
        assert (answer.status, said in answer.json["detail"]) == (422, True)
    lonely = finished(server, "demo/strong")["ask_id"]
    assert "not two answers" in server.post(f"{PLAYGROUND}/{lonely}/votes", {"best": []}).json["detail"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server with two projects, and keys of people who may ask, who may look, and who are elsewhere."""
    folder = tmp_path_factory.mktemp("roles")
    with serving(folder / "home", folder, "--accounts") as found:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        looks = ["run:read", "results:read", "benchmark:read"]
        scopes = {"editor": ("acme", [*looks, "run:write"]), "viewer": ("acme", looks)}
        scopes["follower"] = ("acme", ["run:read"])
        scopes["stranger"] = ("other", [*looks, "run:write", "project:admin"])
        for project in ("acme", "other"):
            add_project(database, project, by="test")
        keys = {name: create_key(database, *given, by="test").text for name, given in scopes.items()}
        database.dispose()
        yield found, keys


def test_a_viewer_looks_and_does_not_ask_and_another_project_sees_nothing(site: tuple[Server, dict[str, str]]) -> None:
    server, keys = site

    def ask(who: str, method: str, path: str, body: Any = None) -> Any:
        return server.ask(method, f"{PLAYGROUND}{path}", body, Authorization=f"Bearer {keys[who]}")

    body = {"models": ["demo/strong", "demo/weak"], "prompt": "What is 3 + 4?", "is_blind": True}
    assert server.post(PLAYGROUND, body).status == 401
    assert ask("viewer", "POST", "", body).status == 403
    ask_id = ask("editor", "POST", "", body).json["ask_id"]
    assert b"event: end" in ask("viewer", "GET", f"/{ask_id}/events").body
    changes = [
        ("POST", "/stop", {}),
        ("POST", "/votes", {"best": ["a"]}),
        ("POST", "/reveal", None),
        ("DELETE", "", None),
    ]
    reads = ["", "/events", "/sample", "/plan?benchmark=puzzles"]
    for path in reads:
        assert ask("viewer", "GET", f"/{ask_id}{path}").status == 200, path
        assert ask("stranger", "GET", f"/{ask_id}{path}").status == 404, path
    for method, path, sent in changes:
        assert ask("viewer", method, f"/{ask_id}{path}", sent).status == 403, path
        assert ask("stranger", method, f"/{ask_id}{path}", sent).status == 404, path
    assert ask("stranger", "GET", "").json["items"] == []
    hidden = ask("viewer", "GET", f"/{ask_id}").json
    assert not hidden["is_revealed"]
    assert ask("editor", "POST", f"/{ask_id}/votes", {"best": ["a"]}).status == 201
    assert ask("viewer", "GET", f"/{ask_id}").json["is_revealed"]
    assert ask("stranger", "GET", "/ranking").json["models"] == []
    for who, status in (("viewer", 200), ("follower", 403)):  # who may not read asks is not told of them in a list
        assert ask(who, "GET", "").status == status
        for kind in ("playground", "all"):
            listed = server.ask("GET", f"/api/v1/runs?kind={kind}&text=3", Authorization=f"Bearer {keys[who]}")
            assert listed.status == status
            assert (b"What is 3 + 4?" in listed.body) == (status == 200)
    assert server.ask("GET", "/api/v1/runs", Authorization=f"Bearer {keys['follower']}").status == 200
    refused = ask("editor", "POST", "", {"models": ["command/./x.sh"], "prompt": "x"})
    assert (refused.status, refused.json["type"].partition("#")[2]) == (403, "kind-not-allowed")
    named = ask("editor", "POST", "", {"models": ["openai/x?base_url=http://127.0.0.1:9/v1"], "prompt": "x"})
    assert (named.status, named.json["type"].partition("#")[2]) == (422, "secret-needed")


def test_a_person_votes_once_with_whatever_keys_and_sees_no_names_before(tmp_path: Path) -> None:
    home, asks = tmp_path / "home", ["run:read", "results:read", "run:write"]
    with serving(home, tmp_path, "--accounts") as server:
        database = open_database(f"sqlite:///{home / 'proctor.db'}")
        add_project(database, "acme", by="test")
        keys = {}
        for name in ("ann", "bob"):
            user = add_user(database, name, is_admin=False, by="test").user
            set_member(database, "acme", name, "editor", by="test")
            for which, scopes in (("first", asks), ("second", asks), ("reading", asks[:2])):
                made = create_key(database, "acme", scopes, user_id=user.id, by="test")
                keys[f"{name}'s {which}"] = made.text
        database.dispose()

        def ask(who: str, method: str, path: str, body: Any = None) -> Any:
            return server.ask(method, f"{PLAYGROUND}{path}", body, Authorization=f"Bearer {keys[who]}")

        body = {"models": ["demo/strong", "demo/weak"], "prompt": "What is 3 + 4?", "is_blind": True}
        ask_id = ask("ann's first", "POST", "", body).json["ask_id"]
        assert b"event: end" in ask("ann's first", "GET", f"/{ask_id}/events").body
        assert ask("bob's first", "POST", f"/{ask_id}/votes", {"best": ["a"]}).status == 201
        assert not ask("ann's reading", "GET", f"/{ask_id}").json["is_revealed"], "she may still vote"
        assert b"demo/" not in ask("ann's reading", "GET", f"/{ask_id}/events").body
        assert ask("bob's reading", "GET", f"/{ask_id}").json["is_revealed"]
        assert ask("bob's second", "POST", f"/{ask_id}/votes", {"best": ["a"]}).status == 409
        voted = ask("ann's second", "POST", f"/{ask_id}/votes", {"best": ["b"]})
        assert [one["voter"] for one in voted.json["votes"]] == ["bob", "ann"]
        assert ask("ann's first", "GET", "/ranking").json["votes"] == 2


def test_keys_that_belong_to_nobody_vote_once_together(site: tuple[Server, dict[str, str]]) -> None:
    server, keys = site

    def ask(key: str, method: str, path: str, body: Any = None) -> Any:
        return server.ask(method, path, body, Authorization=f"Bearer {key}")

    body = {"models": ["demo/strong", "demo/weak"], "prompt": "What is 3 + 4?", "is_blind": True}
    ask_id = ask(keys["stranger"], "POST", PLAYGROUND, body).json["ask_id"]
    ask(keys["stranger"], "GET", f"{PLAYGROUND}/{ask_id}/events")
    scopes = {"scopes": ["run:read", "run:write", "results:read"]}
    another = ask(keys["stranger"], "POST", "/api/v1/keys", scopes).json["key"]
    reading = ask(keys["stranger"], "POST", "/api/v1/keys", {"scopes": ["run:read", "results:read"]}).json["key"]
    kept = open_database(f"sqlite:///{server.home / 'proctor.db'}")
    PlaygroundStore(kept.within(Scope("other"))).vote(ask_id, "ann", ["b"], is_blind=True)
    kept.dispose()
    assert not ask(reading, "GET", f"{PLAYGROUND}/{ask_id}").json["is_revealed"], "he would vote with the other one"
    assert ask(keys["stranger"], "POST", f"{PLAYGROUND}/{ask_id}/votes", {"best": ["a"]}).status == 201
    assert ask(another, "POST", f"{PLAYGROUND}/{ask_id}/votes", {"best": ["a"]}).status == 409
    assert len(ask(another, "GET", f"{PLAYGROUND}/{ask_id}").json["votes"]) == 2
    assert ask(reading, "GET", f"{PLAYGROUND}/{ask_id}").json["is_revealed"]


def test_answers_that_come_at_once_are_all_checked_against_their_schema(server: Server, fast: FakeProvider) -> None:
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    ask = finished(server, *[model(fast, f"m{n}") for n in range(12)], prompt="json", answer_schema=schema)
    assert [(one["error"], one["schema_problems"]) for one in ask["answers"]] == [(None, [])] * 12


def test_models_are_searched_by_the_words_of_their_names(server: Server) -> None:
    found = server.get("/api/v1/known-models?text=mini%20gpt-5")
    assert "openai/gpt-5-mini" in [one["model"] for one in found]
    assert all("mini" in one["model"] and "gpt-5" in one["model"] for one in found)
    mini = next(one for one in found if one["model"] == "openai/gpt-5-mini")
    assert mini["context_tokens"] > 100_000
    assert float(mini["input_usd_per_million"]) > 0
    assert [one["model"] for one in server.get("/api/v1/known-models?text=demo/strong")] == ["demo/strong"]
    assert server.ask("GET", "/api/v1/known-models?limit=0").status == 422
