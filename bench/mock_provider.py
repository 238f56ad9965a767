"""An OpenAI-compatible provider that answers at once: the instrument of the speed benchmark.

One thread, one raw protocol, byte templates: far quicker than any client, so that what is measured is the client.
A prompt that holds "(item N)" is answered with item N's number, wrongly for one item in ten.
A request that asks for a stream gets one event for each word, then the usage.
GET /stats tells the number of requests, when the first came and when the last was answered, and the median of the
seconds from a request's last byte to its answer; POST /reset zeroes them and sets latency_ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import ssl
import statistics
import time
from typing import cast

ITEM = re.compile(rb"\(item (\d+)\)")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
WORDS = "first we count the boxes then multiply and add what was bought on each of the days in the question above "
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
BODY = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"mock","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":"%b\\n\\nANSWER: %d"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":80,"completion_tokens":35,"total_tokens":115}}'
)
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENT = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock","choices":[{"index":0,'
    b'"delta":{"content":"%b"},"finish_reason":%b}],"usage":null}\n\n'
)
LAST_EVENT = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock","choices":[],'
    b'"usage":{"prompt_tokens":80,"completion_tokens":35,"total_tokens":115}}\n\ndata: [DONE]\n\n'
)


def item(number: int) -> tuple[str, int]:
    """A question of about 300 characters and its answer; a pure function of the number."""
    boxes, each, more, bags = 3 + number * 7 % 38, 2 + number * 5 % 11, 1 + number * 3 % 30, 2 + number % 8
    question = (
        f"Ava has {boxes} boxes with {each} apples in each box. On Monday she buys {more} more apples at the market, "
        f"and on Tuesday a friend brings {bags} bags that hold {each} apples each. She then counts everything twice to "
        f"be sure that nothing was missed. How many apples does Ava have at the end of Tuesday? (item {number})"
    )
    return question, boxes * each + more + bags * each


class State:
    requests = 0
    first_request = 0.0
    last_response = 0.0
    latency_seconds = 0.0
    served: list[float] = []  # noqa: RUF012 - one state for all connections


class Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            found = LENGTH.search(self.buffer, 0, end)
            whole = end + 4 + (int(found[1]) if found else 0)
            if len(self.buffer) < whole:
                return
            head, body = self.buffer[:end], self.buffer[end + 4 : whole]
            self.buffer = self.buffer[whole:]
            self.handle(head, body)

    def handle(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /stats"):
            found = {"requests": State.requests, "first_request": State.first_request}
            found["served_p50"] = statistics.median(State.served or [0.0])
            self.send(json.dumps({**found, "last_response": State.last_response}).encode())
        elif head.startswith(b"POST /reset"):
            State.requests, State.first_request, State.served = 0, 0.0, []
            State.latency_seconds = json.loads(body or b"{}").get("latency_ms", 0) / 1000
            self.send(b"{}")
        else:
            State.requests += 1
            now = time.time()
            State.first_request = State.first_request or now
            found = ITEM.search(body)
            number = int(found[1]) if found else 0
            value = item(number)[1] + (number % 10 == 3)
            respond = self.stream if b'"stream":true' in body else self.answer
            if State.latency_seconds:
                asyncio.get_running_loop().call_later(State.latency_seconds, respond, value, now)
            else:
                respond(value, now)

    def answer(self, value: int, received: float) -> None:
        self.send(BODY % (WORDS.encode(), value))
        State.last_response = time.time()
        State.served.append(State.last_response - received)

    def stream(self, value: int, received: float) -> None:
        """Each event in a packet of its own, as a provider sends its tokens."""
        State.last_response = time.time()
        words = [*(f"{word} " for word in WORDS.split()), "\\n\\n", f"ANSWER: {value}"]
        events = [EVENT % (word.encode(), b"null") for word in words]
        for event in [*events, EVENT % (b"", b'"stop"'), LAST_EVENT]:
            if not self.transport.is_closing():
                head = STREAM_HEAD if event is events[0] else b""
                self.transport.write(b"%b%x\r\n%b\r\n" % (head, len(event), event))
        if not self.transport.is_closing():
            self.transport.write(b"0\r\n\r\n")
        State.served.append(time.time() - received)

    def send(self, body: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(HEAD % (len(body), body))


async def serve(port: int, certificate: str | None) -> None:
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--certificate", help="a file with a certificate and its key: answer over TLS")
    given = parser.parse_args()
    uvloop.run(serve(given.port, given.certificate))
