import contextlib
import json
import time
from http.client import HTTPResponse


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


def leases(queue, count, **members):
    return [("POST", f"/queues/{queue}/lease", {"json": {"seconds": 60, **members}, "timeout": 30})] * count


def test_a_job_has_one_holder(program):
    for round_ in range(4):
        number = post(program, "holder", round_)
        replies = program.together(leases("holder", 12))
        assert sorted(reply.status for reply in replies) == [200] + [204] * 11
        [job] = [reply.json() for reply in replies if reply.status == 200]
        assert (job["id"], job["attempt"]) == (number, 1)


def test_every_job_is_handed_out_once(program):
    numbers = {post(program, "once", n) for n in range(30)}
    jobs = [reply.json() for _ in range(3) for reply in program.together(leases("once", 10))]
    assert {job["id"] for job in jobs} == numbers
    assert len({job["token"] for job in jobs}) == 30
    done = program.together([("POST", f"/jobs/{job['id']}/done", {"json": {"token": job["token"]}}) for job in jobs[:12] * 2])
    assert sorted(reply.status for reply in done) == [204] * 12 + [409] * 12


def test_wakes_a_worker_for_every_job(program):
    body = b'{"seconds": 60, "wait": 18}'
    head = f"POST /queues/wakes/lease HTTP/1.1\r\nHost: desk\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(program.connect()) for _ in range(6)]
        for connection in waiting:
            # Far less than the time the requests would wait by themselves.
            connection.settimeout(9)
            connection.sendall(head.encode() + body)
        time.sleep(0.7)
        numbers = {post(program, "wakes", n) for n in range(6)}
        found = set()
        for connection in waiting:
            response = stack.enter_context(contextlib.closing(HTTPResponse(connection, method="POST")))
            response.begin()
            assert response.status == 200
            found.add(json.loads(response.read())["id"])
    assert found == numbers


def test_a_key_is_used_once_at_once(program):
    posts = [("POST", "/queues/key-race/jobs", {"json": {"payload": n, "key": "the-key"}}) for n in range(12)]
    replies = program.together(posts)
    assert sorted(reply.status for reply in replies) == [200] * 11 + [201]
    assert len({reply.json()["id"] for reply in replies}) == 1
    assert lease(program, "key-race").status == 200
    assert lease(program, "key-race").status == 204


def test_jobs_survive_a_kill(program):
    program.restart(fresh=True)
    names = {}
    for name, priority in (("a", 0), ("b", 9), ("c", 0), ("d", 0), ("e", 9)):
        names[name] = post(program, "kill", {"name": name}, priority=priority, max_attempts=1, key=name)
    later = post(program, "kill-later", "later", delay=3600)
    finished, failed = lease(program, "kill").json(), lease(program, "kill").json()
    report(program, "done", finished)
    report(program, "fail", failed)
    before = [program.get(f"/jobs/{number}").json() for number in [*names.values(), later]]
    program.kill()
    program.restart()
    assert [program.get(f"/jobs/{number}").json() for number in [*names.values(), later]] == before
    again = program.post("/queues/kill/jobs", json={"payload": 1, "key": "a"})
    assert (again.status, again.json()["id"]) == (200, names["a"])
    post(program, "kill", {"name": "new"})
    handed_out = [lease(program, "kill").json()["payload"]["name"] for _ in range(4)]
    assert sorted(handed_out) == ["a", "c", "d", "new"]
    assert lease(program, "kill").status == 204


def test_leases_survive_a_kill(program):
    program.restart(fresh=True)
    held = post(program, "lease-kill", "held")
    job = lease(program, "lease-kill", seconds=300).json()
    short = post(program, "lease-kill", "short")
    lost = lease(program, "lease-kill", seconds=1).json()
    assert lost["id"] == short
    program.kill()
    program.restart()
    assert state(program, held) == "leased"
    reply = lease(program, "lease-kill", wait=8)
    assert reply.status == 200
    assert (reply.json()["id"], reply.json()["attempt"]) == (short, 2)
    assert reply.json()["token"] != lost["token"]
    assert lease(program, "lease-kill").status == 204
    assert report(program, "done", job).status == 204
    program.kill()
    program.restart()
    assert state(program, held) == "done"
