"""The floor: send the same requests and check the answers, nothing else. Prints one JSON line."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time

import aiohttp
import orjson
import uvloop
from mock_provider import item

SYSTEM = "Solve the problem. End with 'ANSWER: <number>'."


async def send_all(url: str, count: int, concurrency: int) -> tuple[float, int]:
    numbers = iter(range(count))
    right = 0
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"content-type": "application/json", "authorization": "Bearer none"}
    async with aiohttp.ClientSession(
        connector=connector, headers=headers, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:

        async def work() -> None:
            nonlocal right
            for number in numbers:
                question, answer = item(number)
                body = orjson.dumps(
                    {
                        "model": "mock",
                        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}],
                        "temperature": 0,
                        "max_tokens": 256,
                    }
                )
                async with session.post(url, data=body) as response:
                    text = orjson.loads(await response.read())["choices"][0]["message"]["content"]
                right += text.endswith(f" {answer}")

        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(concurrency)))
        return time.perf_counter() - started, right


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=64)
    arguments = parser.parse_args()
    before = resource.getrusage(resource.RUSAGE_SELF)
    seconds, right = uvloop.run(
        send_all(f"{arguments.url}/v1/chat/completions", arguments.count, arguments.concurrency)
    )
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "right": right}))
