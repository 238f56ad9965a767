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


def test_numbers_the_events_of_a_topic(program):
    assert [post(program, "numbers", f"event {n}") for n in range(3)] == [1, 2, 3]


def test_passes_an_event_on(program):
    with stream(program, "/topics/live/stream") as response:
        number = post(program, "live", "hello", type="note")
        assert next_block(response) == {"id": str(number), "event": "note", "data": "hello"}
        number = post(program, "live", "again")
        assert next_block(response) == {"id": str(number), "event": "message", "data": "again"}


def test_resumes_after_an_id(program):
    numbers = [post(program, "resumes", f"event {n}") for n in range(5)]
    with stream(program, "/topics/resumes/stream", Last_Event_ID=numbers[1]) as response:
        assert ids(response, 3) == numbers[2:]
        numbers.append(post(program, "resumes"))
        assert ids(response, 1) == numbers[-1:]


def test_lists_events(program):
    for name in ("a", "b", "c"):
        post(program, "listed", f"line 1\nline {name}", type=name)
    assert listed(program, "listed") == [
        {"id": 1, "type": "a", "data": "line 1\nline a"},
        {"id": 2, "type": "b", "data": "line 1\nline b"},
        {"id": 3, "type": "c", "data": "line 1\nline c"},
    ]
    assert [event["id"] for event in listed(program, "listed", "?after=1&limit=1")] == [2]
    assert [event["id"] for event in listed(program, "listed", "?limit=2")] == [1, 2]
    assert listed(program, "listed", "?after=3") == []
    assert listed(program, "never-used") == []
    reply = program.get("/topics/listed/events")
    assert reply.headers["Content-Type"].split(";")[0] == "application/x-ndjson"
