from itertools import count

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

queues = map("any-{}".format, count())
payloads = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)



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


@settings(max_examples=15, phases=[Phase.generate])
@given(payloads)
def test_any_payload_comes_back_as_it_was(program, payload):
    queue = next(queues)
    number = post(program, queue, payload)
    assert lease(program, queue).json()["payload"] == payload
    assert program.get(f"/jobs/{number}").json()["payload"] == payload


@settings(max_examples=10, phases=[Phase.generate])
@given(st.lists(st.integers(-2, 2), min_size=1, max_size=10))
def test_any_priorities_are_respected(program, priorities):
    queue = next(queues)
    numbers = [post(program, queue, priority=priority) for priority in priorities]
    expected = [number for _, number in sorted(zip(priorities, numbers), key=lambda pair: -pair[0])]
    assert [lease(program, queue).json()["id"] for _ in numbers] == expected


@settings(max_examples=10, phases=[Phase.generate])
@given(st.lists(st.sampled_from(["post", "lease", "done", "fail"]), min_size=5, max_size=25))
def test_whatever_is_done_stays_done(program, steps):
    queue = next(queues)
    posted, held, done = 0, [], set()
    for step in steps:
        if step == "post":
            post(program, queue, posted, max_attempts=100)
            posted += 1
        elif step == "lease":
            reply = lease(program, queue)
            if reply.status == 200:
                assert reply.json()["id"] not in done | {job["id"] for job in held}
                held.append(reply.json())
        elif held:
            job = held.pop()
            assert report(program, step, job).status == 204
            if step == "done":
                done.add(job["id"])
    while (reply := lease(program, queue)).status == 200:
        assert reply.json()["id"] not in done | {job["id"] for job in held}
        held.append(reply.json())
    assert len(done) + len(held) == posted
    assert all(state(program, number) == "done" for number in done)
