"""A session of 15,000 changes, a batch, reads, and a compaction."""


def work(program) -> None:
    lines = [f"set key-{n * 7919 % 4001} value number {n}" if n % 5 else f"del key-{n % 4001}" for n in range(15_000)]
    lines += [f"get key-{n}" for n in range(3_000)]
    done = program.run("session", stdin="\n".join(lines) + "\n", timeout=60)
    assert done.out.count("\n") == 18_000
    changes = "".join(f"set batch-{n} some value {n}\n" for n in range(4_000))
    assert program.run("batch", stdin=changes, timeout=60).code == 0
    before = program.run("list", timeout=60).out
    assert program.run("compact", timeout=60).code == 0
    assert program.run("list", timeout=60).out == before
