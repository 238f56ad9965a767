def post(program, queue, payload="x", **members):
    reply = program.post(f"/queues/{queue}/jobs", json={"payload": payload, **members})
    assert reply.status == 201, reply.text
    return reply.json()["id"]


def lease(program, queue, seconds=60, **members):
    return program.post(f"/queues/{queue}/lease", json={"seconds": seconds, **members})


def test_accepts_a_job(program):
    ids = [post(program, "accepts", {"n": n}, priority=n) for n in range(3)]
    assert len(set(ids)) == 3
    assert program.get(f"/jobs/{ids[2]}").json() == {
        "id": ids[2], "queue": "accepts", "state": "waiting", "attempts": 0, "priority": 2, "payload": {"n": 2}
    }  # fmt: skip


def test_leases_a_job(program):
    number = post(program, "leases", {"to": "ann"})
    reply = lease(program, "leases")
    assert reply.status == 200
    job = reply.json()
    assert {**job, "token": ""} == {"id": number, "payload": {"to": "ann"}, "attempt": 1, "token": ""}
    shown = program.get(f"/jobs/{number}").json()
    assert (shown["state"], shown["attempts"]) == ("leased", 1)


def test_finishes_a_job(program):
    post(program, "finishes")
    job = lease(program, "finishes").json()
    reply = program.post(f"/jobs/{job['id']}/done", json={"token": job["token"]})
    assert (reply.status, reply.body) == (204, b"")
    assert program.get(f"/jobs/{job['id']}").json()["state"] == "done"
    assert lease(program, "finishes").status == 204


def test_a_failed_job_comes_again(program):
    number = post(program, "fails")
    for attempt in (1, 2, 3):
        job = lease(program, "fails").json()
        assert (job["id"], job["attempt"]) == (number, attempt)
        if attempt < 3:
            assert program.post(f"/jobs/{number}/fail", json={"token": job["token"]}).status == 204
            assert program.get(f"/jobs/{number}").json()["state"] == "waiting"
