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


def test_answers_a_stream_at_once(program):
    with stream(program, "/topics/at-once/stream") as response:
        assert response.status == 200
        assert response.getheader("Content-Type").split(";")[0] == "text/event-stream"
        assert response.getheader("Cache-Control") in ("no-cache", "no-store")


def test_passes_events_to_every_stream(program):
    with contextlib.ExitStack() as stack:
        responses = [stack.enter_context(stream(program, "/topics/every/stream")) for _ in range(8)]
        for data in ("one", "two"):
            number = post(program, "every", data, type="t")
            for response in responses:
                assert next_block(response) == {"id": str(number), "event": "t", "data": data}


def test_starts_with_what_is_new(program):
    for _ in range(3):
        post(program, "new-only", "old")
    with stream(program, "/topics/new-only/stream") as response:
        post(program, "new-only", "new")
        assert next_block(response)["data"] == "new"


def test_resumes_while_events_arrive(program):
    first = post(program, "arriving")
    for _ in range(19):
        post(program, "arriving")
    posts = [("POST", "/topics/arriving/events", {"json": {"data": "x"}})] * 10
    with stream(program, "/topics/arriving/stream", Last_Event_ID=first) as early:
        program.together(posts)
        with stream(program, "/topics/arriving/stream", Last_Event_ID=first) as late:
            program.together(posts)
            assert ids(early, 39) == ids(late, 39) == list(range(first + 1, first + 40))
    latest = first + 39
    with stream(program, "/topics/arriving/stream", Last_Event_ID=latest) as response:
        assert post(program, "arriving") == latest + 1
        assert ids(response, 1) == [latest + 1]
    with stream(program, "/topics/arriving/stream", Last_Event_ID=latest + 1000) as response:
        assert post(program, "arriving") == latest + 2
        assert ids(response, 1) == [latest + 2]


def test_writes_a_line_for_each_line(program):
    with stream(program, "/topics/lines/stream") as response:
        for data, expected in (
            ("a\nb", ["data: a", "data: b"]),
            ("a\n", ["data: a", "data: "]),
            ("", ["data: "]),
            ("\n\n", ["data: "] * 3),
            ("  x: y\nid: 5\n\nevent: z", ["data:   x: y", "data: id: 5", "data: ", "data: event: z"]),
        ):
            post(program, "lines", data)
            lines = []
            while not lines or lines[-1] != "":
                line = response.readline().decode()
                assert line.endswith("\n")
                if line.startswith(("data", "id", "event", "x", "b", "z")) or (line == "\n" and lines):
                    lines.append(line.removesuffix("\n"))
            assert [line for line in lines if line and not line.startswith(("id", "event"))] == expected


def test_topics_do_not_mix(program):
    with stream(program, "/topics/mix-a/stream") as left, stream(program, "/topics/mix-b/stream") as right:
        assert post(program, "mix-a", "a1") == 1
        assert post(program, "mix-b", "b1") == 1
        assert post(program, "mix-a", "a2") == 2
        assert [next_block(left)["data"] for _ in range(2)] == ["a1", "a2"]
        assert post(program, "mix-b", "b2") == 2
        assert [next_block(right)["data"] for _ in range(2)] == ["b1", "b2"]
    assert [event["data"] for event in listed(program, "mix-b")] == ["b1", "b2"]


def test_keeps_one_order_for_all(program):
    with contextlib.ExitStack() as stack:
        responses = [stack.enter_context(stream(program, "/topics/order/stream")) for _ in range(3)]
        posts = [("POST", "/topics/order/events", {"json": {"data": f"event {n}"}}) for n in range(16)]
        replies = program.together(posts) + program.together(posts)
        numbers = sorted(reply.json()["id"] for reply in replies)
        assert numbers == list(range(numbers[0], numbers[0] + 32))
        seen = [[next_block(response) for _ in range(32)] for response in responses]
    assert [int(block["id"]) for block in seen[0]] == numbers
    assert seen[0] == seen[1] == seen[2]
    told = {reply.json()["id"]: f"event {n % 16}" for n, reply in enumerate(replies)}
    assert {int(block["id"]): block["data"] for block in seen[0]} == told


def test_shows_that_it_is_alive(program):
    with stream(program, "/topics/idle/stream") as response:
        comments, end = 0, time.monotonic() + 9
        # Two of them, as the first may be a greeting; six seconds, and half as many again.
        while comments < 2:
            assert time.monotonic() < end
            line = response.readline()
            assert line, "the stream has ended"
            comments += line.startswith(b":")


def test_keeps_the_latest_events(program):
    for _ in range(205):
        post(program, "latest")
    found = [event["id"] for event in listed(program, "latest")]
    assert found == list(range(6, 206))
    assert [event["id"] for event in listed(program, "latest", "?after=3&limit=2")] == [6, 7]


def test_tells_of_a_gap(program):
    for _ in range(210):
        post(program, "gap")
    with stream(program, "/topics/gap/stream", Last_Event_ID=3) as response:
        assert next_block(response) == {"event": "gap", "data": "7"}
        assert ids(response, 200) == list(range(11, 211))
    with stream(program, "/topics/gap/stream", Last_Event_ID=0) as response:
        assert next_block(response) == {"event": "gap", "data": "10"}
    with stream(program, "/topics/gap/stream", Last_Event_ID=10) as response:
        assert ids(response, 1) == [11]


def test_writes_only_the_types_asked_for(program):
    first = post(program, "types", type="b")
    with stream(program, "/topics/types/stream?types=a,c", Last_Event_ID=first) as response:
        numbers = {name: post(program, "types", name, type=name) for name in ("a", "b", "c", "d", "aa")}
        last = post(program, "types", type="a")
        assert ids(response, 3) == [numbers["a"], numbers["c"], last]
    with stream(program, "/topics/types/stream?types=b", Last_Event_ID=first - 1) as response:
        assert ids(response, 2) == [first, numbers["b"]]


def test_resumes_by_a_parameter(program):
    numbers = [post(program, "parameter") for _ in range(4)]
    with stream(program, f"/topics/parameter/stream?after={numbers[1]}") as response:
        assert ids(response, 2) == numbers[2:]
    with stream(program, f"/topics/parameter/stream?after={numbers[0]}", Last_Event_ID=numbers[2]) as response:
        assert ids(response, 1) == numbers[3:]
