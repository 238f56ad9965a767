"""Three files of fifteen thousand records each, merged and counted; what is printed is compared as a whole."""

import json


def record(second: int, name: int) -> str:
    time = f"2026-03-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{name}Z"
    return f'{{"time": "{time}", "level": "info", "host": "m{name}"}}\n'


FILES = {f"{name}.log": "".join(record(second, name) for second in range(15_000)) for name in range(3)}
MERGED = "".join(record(second, name) for second in range(15_000) for name in range(3))
STATS = {
    "records": 45_000,
    "bad": 0,
    "levels": {"debug": 0, "info": 45_000, "warning": 0, "error": 0},
    "files": dict.fromkeys(FILES, 15_000),
}


def work(program):
    done = program.run("merge", *FILES, files=FILES, timeout=60)
    assert done.code == 0, done.err
    assert done.out == MERGED, "the records are not merged as they should be"
    done = program.run("stats", *FILES, timeout=60)
    assert done.code == 0, done.err
    assert json.loads(done.out) == STATS
