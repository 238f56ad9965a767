import contextlib
import json
import time
from http.client import HTTPResponse


@contextlib.contextmanager
def stream(program, path, **headers):
    """An open stream, as a response that can be read line by line."""
    lines = [f"GET {path} HTTP/1.1", "Host: relay", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    with program.connect() as connection:
        connection.settimeout(10)
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        with contextlib.closing(HTTPResponse(connection, method="GET")) as response:
            response.begin()
            yield response


def next_block(response):
    """The fields of the next event; None if the stream has ended."""
    fields, end = {}, time.monotonic() + 10
    for line in iter(response.readline, b""):
        assert time.monotonic() < end, "no event arrived"
        name, _, value = line.decode().rstrip("\r\n").partition(":")
        value = value.removeprefix(" ")
        if name == "data" and "data" in fields:
            fields["data"] += "\n" + value
        elif name:
            fields[name] = value
        elif "data" in fields:
            return fields
    return None


def ids(response, count):
    return [int(next_block(response)["id"]) for _ in range(count)]


def post(program, topic, data="x", **members):
    reply = program.post(f"/topics/{topic}/events", json={"data": data, **members})
    assert reply.status == 201, reply.text
    return reply.json()["id"]


def listed(program, topic, query=""):
    reply = program.get(f"/topics/{topic}/events{query}")
    assert reply.status == 200, reply.text
    return [json.loads(line) for line in reply.text.split("\n") if line]


def test_keeps_events_over_a_restart(program):
    program.restart(fresh=True)
    numbers = [post(program, "kept", f"žluť\n{n}", type="t") for n in range(3)]
    post(program, "kept-too")
    before = listed(program, "kept")
    program.restart()
    assert listed(program, "kept") == before
    assert post(program, "kept") == numbers[-1] + 1
    assert post(program, "kept-too") == 2


def test_keeps_events_over_a_kill(program):
    numbers = [post(program, "killed", f"event {n}") for n in range(20)]
    program.kill()
    program.restart()
    assert [(event["id"], event["data"]) for event in listed(program, "killed")] == [
        (number, f"event {n}") for n, number in enumerate(numbers)
    ]
    assert post(program, "killed") == numbers[-1] + 1


def test_ends_in_order(program):
    with stream(program, "/topics/ends/stream") as response:
        post(program, "ends")
        assert next_block(response)["data"] == "x"
        done = program.terminate(timeout=4)
        assert done is not None
        assert done.code == 0
        assert next_block(response) is None
    program.restart()


def test_does_not_wait_for_the_slow(program):
    program.restart(fresh=True)
    data = "x" * 90_000
    with stream(program, "/topics/slow/stream"), stream(program, "/topics/slow/stream") as response:
        for number in range(150):
            post(program, "slow", f"{number} {data}")
            assert next_block(response)["data"].startswith(f"{number} ")
    program.restart(fresh=True)


def test_survives_clients_that_go_away(program):
    with stream(program, "/topics/away/stream") as response:
        for _ in range(10):
            with stream(program, "/topics/away/stream"):
                pass
            with program.connect() as connection:
                connection.sendall(b"GET /topics/away/stream HTTP/1.1\r\nHost: relay\r\n\r\n")
            post(program, "away", "still here")
            assert next_block(response)["data"] == "still here"
