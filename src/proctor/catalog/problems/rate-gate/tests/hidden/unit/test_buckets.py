import pytest


def put(program, name, capacity, per_second):
    assert program.put(f"/limits/{name}", json={"capacity": capacity, "per_second": per_second}).status == 200


def take(program, name, key, **members):
    return program.post(f"/limits/{name}/take", json={"key": f"{key} of {name}", **members})


def test_costs_are_taken(program):
    put(program, "costs", 10, 1)
    statuses = [take(program, "costs", "ann", at=5, cost=cost).status for cost in (4, 4, 2, 1)]
    assert statuses == [200, 200, 200, 429]


def test_refuses_what_costs_more_than_there_is(program):
    put(program, "more", 10, 1)
    assert take(program, "more", "ann", at=5, cost=4).status == 200
    assert take(program, "more", "ann", at=5, cost=7).status == 429


@pytest.mark.parametrize(("rate", "gaps"), [(1, [(0.75, 429), (1, 200)]), (0.5, [(1.5, 429), (2, 200)]), (4, [(0.125, 429), (0.25, 200)])])
def test_gains_tokens_over_time(program, rate, gaps):
    put(program, "gains", 5, rate)
    for gap, status in gaps:
        key = f"{rate}-{gap}"
        assert take(program, "gains", key, at=1000, cost=5).status == 200
        assert take(program, "gains", key, at=1000 + gap).status == status


def test_gains_fractions_of_tokens(program):
    put(program, "fractions", 5, 0.1)
    assert take(program, "fractions", "ann", at=0, cost=5).status == 200
    # Ten looks at a tenth of a token each: rounding errors or whole tokens only would lose the last.
    for second in range(1, 10):
        assert take(program, "fractions", "ann", at=second).status == 429
    assert take(program, "fractions", "bob", at=0, cost=5).status == 200
    for second in range(20, 140, 20):
        assert take(program, "fractions", "bob", at=second, cost=2).status == 200
    assert take(program, "fractions", "ann", at=20).status == 200


def test_a_bucket_has_a_capacity(program):
    put(program, "capacity", 3, 2)
    assert take(program, "capacity", "ann", at=0).status == 200
    statuses = [take(program, "capacity", "ann", at=1_000_000).status for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_a_refusal_costs_nothing(program):
    put(program, "refusal", 5, 1)
    assert take(program, "refusal", "ann", at=0, cost=2).status == 200
    for _ in range(3):
        assert take(program, "refusal", "ann", at=0, cost=4).status == 429
    assert take(program, "refusal", "ann", at=0, cost=3).status == 200


def test_tells_what_remains(program):
    put(program, "remains", 5, 0.5)
    assert take(program, "remains", "ann", at=0, cost=2).json() == {"allowed": True, "remaining": 3}
    assert take(program, "remains", "ann", at=1).json()["remaining"] == 2  # 2.5 tokens
    assert take(program, "remains", "ann", at=1, cost=5).json()["remaining"] == 2
    assert take(program, "remains", "bob", at=1, cost=5).json()["remaining"] == 0


def test_tells_when_to_come_back(program):
    put(program, "back", 10, 4)
    assert take(program, "back", "ann", at=50, cost=9).status == 200
    assert take(program, "back", "ann", at=50, cost=4).json()["retry_after"] == pytest.approx(0.75, abs=0.0015)
    put(program, "slow", 10, 0.003)
    assert take(program, "slow", "ann", at=50, cost=10).status == 200
    assert take(program, "slow", "ann", at=50, cost=3).json()["retry_after"] == pytest.approx(1000, abs=0.0015)


def test_rounds_the_header_up(program):
    for name, rate, cost, expected in (("a", 100, 1, "1"), ("b", 0.4, 1, "3"), ("c", 0.5, 1, "2"), ("d", 0.5, 3, "6"), ("e", 0.24, 3, "13")):
        put(program, f"header-{name}", 5, rate)
        assert take(program, f"header-{name}", "ann", at=0, cost=5).status == 200
        reply = take(program, f"header-{name}", "ann", at=0, cost=cost)
        assert reply.status == 429
        assert reply.headers["Retry-After"] == expected


def test_keys_have_buckets_of_their_own(program):
    put(program, "keys", 1, 1)
    for key in ("ann", "Ann", "bob", "a/b c?é", "x" * 80):
        assert take(program, "keys", key, at=3).status == 200, key
        assert take(program, "keys", key, at=3).status == 429, key


def test_limits_have_buckets_of_their_own(program):
    for name in ("own-a", "own-b"):
        put(program, name, 1, 1)
        assert program.post(f"/limits/{name}/take", json={"key": "shared", "at": 3}).status == 200


def test_time_does_not_run_back(program):
    put(program, "back-in-time", 4, 1)
    assert take(program, "back-in-time", "ann", at=100, cost=4).status == 200
    assert take(program, "back-in-time", "ann", at=10).status == 429
    assert take(program, "back-in-time", "ann", at=100).status == 429
    reply = take(program, "back-in-time", "ann", at=0)
    assert reply.json()["retry_after"] == pytest.approx(1, abs=0.0015)
    assert take(program, "back-in-time", "ann", at=101).status == 200


def test_looking_costs_nothing(program):
    put(program, "look", 4, 1)
    path = "/limits/look/keys/a%2Fb%20c%20of%20look"
    assert program.get(path + "?at=5").json() == {"remaining": 4}
    assert take(program, "look", "a/b c", at=5, cost=3).status == 200
    for _ in range(3):
        assert program.get(path + "?at=5").json() == {"remaining": 1}
    assert program.get(path + "?at=6.5").json() == {"remaining": 2}
    assert program.get("/limits/look/keys/nobody").json() == {"remaining": 4}


def test_a_deleted_key_is_new(program):
    put(program, "deleted", 2, 1)
    assert take(program, "deleted", "ann", at=9, cost=2).status == 200
    reply = program.delete("/limits/deleted/keys/ann%20of%20deleted")
    assert (reply.status, reply.body) == (204, b"")
    assert take(program, "deleted", "ann", at=1, cost=2).status == 200
    assert program.delete("/limits/deleted/keys/nobody").status == 204


def test_a_changed_limit_counts(program):
    put(program, "changed", 10, 1)
    assert take(program, "changed", "ann", at=0, cost=4).status == 200
    for key in ("bob", "cyd"):
        assert take(program, "changed", key, at=0, cost=9).status == 200
    put(program, "changed", 3, 0.25)
    assert [take(program, "changed", "ann", at=0).status for _ in range(4)] == [200, 200, 200, 429]
    assert take(program, "changed", "cyd", at=3, cost=2).status == 429
    assert take(program, "changed", "bob", at=4, cost=2).status == 200
    put(program, "changed", 20, 0.25)
    assert take(program, "changed", "bob", at=4).status == 429
