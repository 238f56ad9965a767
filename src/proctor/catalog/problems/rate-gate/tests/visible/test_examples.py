def put(program, name, capacity, per_second):
    reply = program.put(f"/limits/{name}", json={"capacity": capacity, "per_second": per_second})
    assert reply.status == 200, reply.text
    return reply


def take(program, name, key, **members):
    return program.post(f"/limits/{name}/take", json={"key": f"{key} of {name}", **members})


def test_keeps_a_limit(program):
    reply = put(program, "keeps", 10, 2.5)
    assert reply.json() == {"name": "keeps", "capacity": 10, "per_second": 2.5}
    assert program.get("/limits/keeps").json() == reply.json()
    put(program, "keeps", 20, 1)
    assert program.get("/limits/keeps").json() == {"name": "keeps", "capacity": 20, "per_second": 1}


def test_allows_a_full_bucket(program):
    put(program, "full", 3, 1)
    replies = [take(program, "full", "ann", at=100) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert replies[0].json()["allowed"] is True


def test_refuses_when_the_bucket_is_empty(program):
    put(program, "empty", 2, 0.5)
    take(program, "empty", "ann", at=0, cost=2)
    reply = take(program, "empty", "ann", at=0)
    assert reply.status == 429
    assert reply.json()["allowed"] is False


def test_takes_a_batch(program):
    put(program, "batch-a", 1, 0.25)
    put(program, "batch-b", 5, 1)
    takes = [{"limit": "batch-a", "key": "amy"}, {"limit": "batch-b", "key": "ben", "cost": 2}]
    reply = program.post("/take", json={"at": 7, "takes": takes})
    assert (reply.status, reply.json()) == (200, {"allowed": True})
    reply = program.post("/take", json={"at": 8, "takes": takes})
    assert reply.status == 429
    assert reply.json()["allowed"] is False
    assert reply.json()["refused"] == [0]
    assert abs(reply.json()["retry_after"] - 3) < 0.002
