import re
import time


def post(program, queue, payload="x", **members):
    reply = program.post(f"/queues/{queue}/jobs", json={"payload": payload, **members})
    assert reply.status == 201, reply.text
    return reply.json()["id"]


def lease(program, queue, seconds=60, **members):
    return program.post(f"/queues/{queue}/lease", json={"seconds": seconds, **members}, timeout=30)


def report(program, word, job, **members):
    return program.post(f"/jobs/{job['id']}/{word}", json={"token": job["token"], **members})


def state(program, number):
    return program.get(f"/jobs/{number}").json()["state"]


def test_refuses_invalid_jobs(program):
    good = {"payload": None, "priority": -100, "delay": 0, "max_attempts": 100, "key": "k" * 100}
    assert program.post("/queues/valid/jobs", json=good).status == 201
    for members in (
        {},
        {"payload": 1, "priority": 101},
        {"payload": 1, "priority": 1.5},
        {"payload": 1, "priority": "high"},
        {"payload": 1, "priority": True},
        {"payload": 1, "delay": -1},
        {"payload": 1, "delay": 3601},
        {"payload": 1, "delay": "soon"},
        {"payload": 1, "max_attempts": 0},
        {"payload": 1, "max_attempts": 2.5},
        {"payload": 1, "key": ""},
        {"payload": 1, "key": 5},
    ):
        reply = program.post("/queues/valid/jobs", json=members)
        assert reply.status == 422, members
        assert isinstance(reply.json()["error"], str)
    for queue in ("Valid", "a_b", "x" * 41):
        assert program.post(f"/queues/{queue}/jobs", json=good).status == 422, queue
    for body in (b"", b"[]", b"{"):
        assert program.post("/queues/valid/jobs", body=body, headers={"content-type": "application/json"}).status == 400
    assert lease(program, "valid").status == 200
    assert lease(program, "valid").status == 204


def test_refuses_invalid_requests(program):
    number = post(program, "requests")
    for members in ({}, {"seconds": 0}, {"seconds": 3601}, {"seconds": "1"}, {"seconds": 1, "wait": -1}, {"seconds": 1, "wait": 21}):
        assert program.post("/queues/requests/lease", json=members).status == 422, members
    assert program.get(f"/jobs/{number}").json()["attempts"] == 0
    job = lease(program, "requests").json()
    for word, members in (("done", {}), ("done", {"token": 5}), ("fail", {"token": job["token"], "delay": -1}), ("extend", {"token": job["token"]})):
        assert program.post(f"/jobs/{number}/{word}", json=members).status == 422, (word, members)
    assert state(program, number) == "leased"
    for word in ("done", "fail", "revive"):
        assert program.post(f"/jobs/no-such-job/{word}", json={"token": "x"}).status == 404
    assert program.get("/jobs/no-such-job").status == 404
    assert program.get("/nothing").status == 404
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", job["id"])
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", job["token"])


def test_has_nothing_to_lease(program):
    reply = lease(program, "nothing")
    assert (reply.status, reply.body) == (204, b"")
    start = time.monotonic()
    assert lease(program, "nothing", wait=1).status == 204
    assert time.monotonic() - start > 0.9


def test_hands_out_by_priority_and_age(program):
    for name, priority in (("a", 0), ("b", 5), ("c", -3), ("d", 5), ("e", 0), ("f", 100)):
        post(program, "order", name, priority=priority)
    assert [lease(program, "order").json()["payload"] for _ in range(6)] == ["f", "b", "d", "a", "e", "c"]


def test_a_returned_job_keeps_its_place(program):
    for name in ("a", "b", "c"):
        post(program, "place", name)
    post(program, "place", "low", priority=-1)
    first = lease(program, "place").json()
    second = lease(program, "place").json()
    assert sorted(job["payload"] for job in (first, second)) != ["c", "low"]
    older = min(first, second, key=lambda job: job["payload"])
    assert report(program, "fail", older).status == 204
    again = lease(program, "place").json()
    assert (again["payload"], again["attempt"]) == (older["payload"], 2)


def test_refuses_wrong_tokens(program):
    number, other = post(program, "tokens"), post(program, "tokens")
    first, second = lease(program, "tokens").json(), lease(program, "tokens").json()
    assert first["token"] != second["token"]
    for word, members in (("done", {}), ("fail", {}), ("extend", {"seconds": 5})):
        for token in ("wrong", second["token"]):
            reply = program.post(f"/jobs/{first['id']}/{word}", json={"token": token, **members})
            assert reply.status == 409, word
            assert isinstance(reply.json()["error"], str)
    assert [state(program, one) for one in (number, other)] == ["leased", "leased"]
    assert report(program, "done", first).status == 204


def test_refuses_tokens_of_the_past(program):
    number = post(program, "past", max_attempts=5)
    assert program.post(f"/jobs/{number}/done", json={"token": "none-yet"}).status == 409
    first = lease(program, "past").json()
    assert report(program, "fail", first).status == 204
    assert report(program, "done", first).status == 409
    assert state(program, number) == "waiting"
    second = lease(program, "past").json()
    assert second["token"] != first["token"]
    for word, members in (("done", {}), ("fail", {}), ("extend", {"seconds": 5})):
        assert report(program, word, first, **members).status == 409, word
    assert state(program, number) == "leased"
    assert report(program, "done", second).status == 204
    assert report(program, "done", second).status == 409


def test_refuses_tokens_of_leases_that_ran_out(program):
    number = post(program, "ran-out")
    first = lease(program, "ran-out", seconds=0.5).json()
    second = lease(program, "ran-out", wait=8).json()
    assert second["attempt"] == 2
    for word, members in (("done", {}), ("fail", {}), ("extend", {"seconds": 5})):
        assert report(program, word, first, **members).status == 409, word
    assert state(program, number) == "leased"


def test_gives_up_after_the_last_attempt(program):
    number = post(program, "last", max_attempts=2)
    once = post(program, "last-once", max_attempts=1)
    for expected in ("waiting", "dead"):
        job = lease(program, "last").json()
        assert report(program, "fail", job).status == 204
        assert state(program, number) == expected
    assert lease(program, "last").status == 204
    assert report(program, "fail", lease(program, "last-once").json()).status == 204
    assert state(program, once) == "dead"
    assert report(program, "done", job).status == 409
    assert program.get(f"/jobs/{number}").json()["attempts"] == 2


def test_a_key_is_used_once(program):
    number = post(program, "keys", "first", key="k1")
    reply = program.post("/queues/keys/jobs", json={"payload": "second", "key": "k1"})
    assert (reply.status, reply.json()) == (200, {"id": number})
    assert post(program, "keys-too", key="k1") != number
    job = lease(program, "keys").json()
    assert job["payload"] == "first"
    report(program, "done", job)
    assert program.post("/queues/keys/jobs", json={"payload": "third", "key": "k1"}).json() == {"id": number}
    assert lease(program, "keys").status == 204
    assert post(program, "keys", key="k2") != number


def test_counts_the_jobs_of_a_queue(program):
    assert program.get("/queues/counts").json() == {"waiting": 0, "leased": 0, "done": 0, "dead": 0}
    for _ in range(4):
        post(program, "counts", max_attempts=1)
    post(program, "counts", delay=60)
    report(program, "done", lease(program, "counts").json())
    report(program, "fail", lease(program, "counts").json())
    lease(program, "counts")
    assert program.get("/queues/counts").json() == {"waiting": 2, "leased": 1, "done": 1, "dead": 1}


def test_revives_the_dead(program):
    number = post(program, "revive", max_attempts=1)
    assert program.post(f"/jobs/{number}/revive", json={}).status == 409
    report(program, "fail", lease(program, "revive").json())
    assert program.post(f"/jobs/{number}/revive", json={}).status == 204
    assert program.get(f"/jobs/{number}").json()["attempts"] == 0
    job = lease(program, "revive").json()
    assert (job["id"], job["attempt"]) == (number, 1)
