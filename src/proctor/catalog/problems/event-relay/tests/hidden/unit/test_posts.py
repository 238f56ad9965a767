def test_refuses_invalid_events(program):
    good = {"type": "A-z_9", "data": ""}
    assert program.post("/topics/valid/events", json=good).status == 201
    for members in (
        {},
        {"data": None},
        {"data": 5},
        {"data": "a\rb"},
        {"data": "x" * 100_001},
        {"data": "x", "type": ""},
        {"data": "x", "type": "two words"},
        {"data": "x", "type": "t" * 41},
        {"data": "x", "type": "a\nid: 9"},
        {"data": "x", "type": None},
    ):
        reply = program.post("/topics/valid/events", json=members)
        assert reply.status == 422, members
        assert isinstance(reply.json()["error"], str)
    for topic in ("Valid", "a_b", "x" * 41, "caf%C3%A9"):
        assert program.post(f"/topics/{topic}/events", json=good).status == 422, topic
    for body in (b"", b"[]", b"{", b'"x"'):
        assert program.post("/topics/valid/events", body=body, headers={"content-type": "application/json"}).status == 400
    assert program.post("/topics/valid/events", json={"data": "x" * 100_000}).json() == {"id": 2}


def test_refuses_invalid_parameters(program):
    assert program.post("/topics/parameters/events", json={"data": "x"}).status == 201
    assert program.get("/topics/parameters/events?after=0&limit=200").status == 200
    for query in ("after=-1", "after=x", "after=1.5", "limit=0", "limit=201", "limit=x", "after="):
        assert program.get(f"/topics/parameters/events?{query}").status == 400, query
    assert program.get("/nothing").status == 404


def test_refuses_an_id_that_is_none(program):
    for value in ("-1", "x", "1.5", "1 2", "0x1"):
        reply = program.get("/topics/parameters/stream", headers={"Last-Event-ID": value})
        assert reply.status == 400, value
