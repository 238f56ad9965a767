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


def test_a_failed_job_waits_for_its_delay(program):
    number = post(program, "fail-delay")
    job = lease(program, "fail-delay").json()
    start = time.monotonic()
    assert report(program, "fail", job, delay=1.5).status == 204
    assert state(program, number) == "waiting"
    again = lease(program, "fail-delay", wait=8)
    assert again.status == 200
    assert time.monotonic() - start > 1.4
    assert again.json()["attempt"] == 2
    assert report(program, "fail", again.json(), delay=3600).status == 204
    assert lease(program, "fail-delay").status == 204


def test_an_expired_lease_gives_the_job_back(program):
    number = post(program, "expires")
    start = time.monotonic()
    first = lease(program, "expires", seconds=1.5).json()
    assert state(program, number) == "leased"
    end = start + 20
    # Asked without waiting, so that only the end of the lease matters here.
    while (reply := lease(program, "expires", seconds=60)).status == 204:
        assert time.monotonic() < end, "the lease did not run out"
        time.sleep(0.1)
    assert time.monotonic() - start > 1.4
    second = reply.json()
    assert (second["id"], second["attempt"]) == (number, 2)
    assert second["token"] != first["token"]


def test_extends_a_lease(program):
    post(program, "extends")
    job = lease(program, "extends", seconds=4).json()
    assert report(program, "extend", job, seconds=60).status == 204
    time.sleep(4.5)
    assert lease(program, "extends").status == 204
    assert report(program, "done", job).status == 204


def test_shortens_a_lease(program):
    post(program, "shortens")
    job = lease(program, "shortens", seconds=3000).json()
    assert report(program, "extend", job, seconds=0.5).status == 204
    reply = lease(program, "shortens", wait=8)
    assert reply.status == 200
    assert reply.json()["attempt"] == 2


def test_delays_a_job(program):
    start = time.monotonic()
    number = post(program, "delays", "late", delay=2.5, priority=50)
    other = post(program, "delays", "now")
    assert lease(program, "delays").json()["id"] == other
    end = start + 20
    while (reply := lease(program, "delays")).status == 204:
        assert time.monotonic() < end, "the delay was never over"
        time.sleep(0.1)
    assert reply.json()["id"] == number
    assert time.monotonic() - start > 2.4
    post(program, "delays", "much later", delay=3600)
    assert lease(program, "delays").status == 204


def test_waits_for_a_delay(program):
    number = post(program, "wait-delay", delay=1)
    start = time.monotonic()
    reply = lease(program, "wait-delay", wait=15)
    assert (reply.status, reply.json()["id"]) == (200, number)
    # One second of delay, one to answer, and plenty for a busy machine; the request would have waited for fifteen.
    assert time.monotonic() - start < 8


def test_waits_for_a_lease_to_run_out(program):
    number = post(program, "wait-lease")
    assert lease(program, "wait-lease", seconds=1).status == 200
    start = time.monotonic()
    reply = lease(program, "wait-lease", wait=15)
    assert (reply.status, reply.json()["id"]) == (200, number)
    assert time.monotonic() - start < 8
