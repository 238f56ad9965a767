import time


def put(program, name, capacity, per_second):
    assert program.put(f"/limits/{name}", json={"capacity": capacity, "per_second": per_second}).status == 200


def take(program, name, key, **members):
    return program.post(f"/limits/{name}/take", json={"key": f"{key} of {name}", **members})


def batch(program, *takes, **members):
    names = ("limit", "key", "cost")
    return program.post("/take", json={"takes": [dict(zip(names, one)) for one in takes], **members})


def test_refuses_invalid_limits(program):
    for members in (
        {"capacity": 0, "per_second": 1},
        {"capacity": 1_000_001, "per_second": 1},
        {"capacity": 1.5, "per_second": 1},
        {"capacity": "3", "per_second": 1},
        {"capacity": True, "per_second": 1},
        {"capacity": 3, "per_second": 0},
        {"capacity": 3, "per_second": -1},
        {"capacity": 3, "per_second": None},
        {"capacity": 3},
        {"per_second": 3},
    ):
        reply = program.put("/limits/wrong", json=members)
        assert reply.status == 422, members
        assert isinstance(reply.json()["error"], str)
    assert program.get("/limits/wrong").status == 404
    for name in ("Wrong", "a_b", "x" * 41):
        assert program.put(f"/limits/{name}", json={"capacity": 1, "per_second": 1}).status == 422, name
    assert program.put("/limits/wrong", body=b"[1]", headers={"content-type": "application/json"}).status == 400


def test_knows_no_other_limits(program):
    put(program, "known", 1, 1)
    assert program.get("/limits/unknown").status == 404
    assert take(program, "unknown", "ann").status == 404
    assert batch(program, ("known", "ann", 1), ("unknown", "ann", 1)).status == 404
    assert program.get("/other").status == 404
    assert take(program, "known", "ann").status == 200


def test_refuses_invalid_takes(program):
    put(program, "valid", 5, 0.001)
    for members in (
        {},
        {"key": ""},
        {"key": "x" * 101},
        {"key": 5},
        {"key": "ann", "cost": 0},
        {"key": "ann", "cost": 6},
        {"key": "ann", "cost": 1.5},
        {"key": "ann", "cost": "1"},
        {"key": "ann", "cost": True},
        {"key": "ann", "at": -1},
        {"key": "ann", "at": "now"},
    ):
        assert program.post("/limits/valid/take", json=members).status == 422, members
    assert batch(program).status == 422
    assert batch(program, *[("valid", f"k{n}", 1) for n in range(11)]).status == 422
    assert batch(program, ("valid", "ann", 1), ("valid", "ann", 1)).status == 422
    assert batch(program, ("valid", "ann", 1), ("valid", "bob", 6)).status == 422
    assert program.post("/limits/valid/take", body=b"{", headers={"content-type": "application/json"}).status == 400
    assert take(program, "valid", "ann", cost=5).status == 200


def test_has_a_clock_of_its_own(program):
    put(program, "slow-clock", 2, 0.001)
    put(program, "quick-clock", 1, 2)
    assert [take(program, "slow-clock", "ann").status for _ in range(3)] == [200, 200, 429]
    assert take(program, "quick-clock", "ann").status == 200
    time.sleep(1.5)
    assert take(program, "quick-clock", "ann").status == 200
    reply = take(program, "slow-clock", "ann")
    assert reply.status == 429
    assert 900 < reply.json()["retry_after"] < 999.5


def test_allows_exactly_the_capacity_at_once(program):
    put(program, "at-once", 10, 0.001)
    for key in ("ann", "bob", "cyd"):
        replies = program.together([("POST", "/limits/at-once/take", {"json": {"key": key}})] * 20)
        assert sorted(reply.status for reply in replies) == [200] * 10 + [429] * 10


def test_a_batch_is_taken_as_a_whole(program):
    put(program, "whole-a", 4, 2)
    put(program, "whole-b", 4, 0.5)
    put(program, "whole-c", 4, 1)
    assert batch(program, ("whole-a", "a", 3), ("whole-b", "b", 3), at=0).status == 200
    refused = batch(program, ("whole-c", "c", 4), ("whole-a", "a", 2), ("whole-b", "b", 2), at=0)
    assert refused.status == 429
    found = refused.json()
    assert found["refused"] == [1, 2]
    assert abs(found["retry_after"] - 2) < 0.002
    # Nothing was taken of c, and what was left of a and b is still there.
    assert batch(program, ("whole-c", "c", 4), ("whole-a", "a"), ("whole-b", "b"), at=0).status == 200
    assert batch(program, ("whole-a", "a"), ("whole-a", "other", 4), at=0).json()["refused"] == [0]
    assert batch(program, ("whole-a", "other", 4), at=0).status == 200


def test_batches_at_once_do_not_mix(program):
    put(program, "mix-a", 6, 0.001)
    put(program, "mix-b", 9, 0.001)
    takes = [{"limit": "mix-a", "key": "k", "cost": 2}, {"limit": "mix-b", "key": "k of mix-b", "cost": 1}]
    orders = [takes, takes[::-1]] * 5
    replies = program.together([("POST", "/take", {"json": {"takes": order}}) for order in orders])
    assert sorted(reply.status for reply in replies) == [200] * 3 + [429] * 7
    assert [take(program, "mix-b", "k", cost=cost).status for cost in (6, 1)] == [200, 429]
