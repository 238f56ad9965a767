import contextlib
import json
import time
from http.client import HTTPResponse
from itertools import count

from hypothesis import Phase, given, settings
from hypothesis import strategies as st


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


topics = map("any-{}".format, count())
pieces = st.sampled_from(["\n", "a", ": ", "é😀", "data: x", " ", "\t", "id:"]) | st.characters(exclude_categories=("Cs",), exclude_characters="\r")
texts = st.lists(pieces, max_size=12).map("".join)


@settings(max_examples=15, phases=[Phase.generate])
@given(st.lists(texts, min_size=1, max_size=5))
def test_any_data_arrives_as_it_was(program, data):
    topic = next(topics)
    with stream(program, f"/topics/{topic}/stream") as response:
        for text in data:
            post(program, topic, text)
        assert [next_block(response)["data"] for _ in data] == data


@settings(max_examples=15, phases=[Phase.generate])
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_resumes_wherever_it_broke_off(program, parts):
    """A client that reads some events, goes away, and comes back, sees each once."""
    topic = next(topics)
    last = post(program, topic) - 1
    total = last + 1 + sum(parts)
    seen = []
    for part in parts:
        for _ in range(part):
            post(program, topic)
        with stream(program, f"/topics/{topic}/stream", Last_Event_ID=last) as response:
            seen += ids(response, max(1, part) if not seen else part)
            last = seen[-1] if seen else last
    with stream(program, f"/topics/{topic}/stream", Last_Event_ID=last) as response:
        if last < total:
            seen += ids(response, total - last)
    assert seen == list(range(total - len(seen) + 1, total + 1))
    assert len(seen) == 1 + sum(parts)
