"""A session of 15,000 changes, a batch, reads, and a compaction; every answer is compared."""

BATCH = {f"batch-{n}": f"some value {n}" for n in range(4_000)}


def session() -> tuple[str, str, dict[str, str]]:
    """Its lines, the answers to them, and what is there in the end."""
    lines, answers, store = [], [], {}
    for n in range(15_000):
        key = f"key-{n * 7919 % 4001}" if n % 5 else f"key-{n % 4001}"
        lines.append(f"set {key} value number {n}" if n % 5 else f"del {key}")
        answers.append("OK" if n % 5 or key in store else "NONE")
        if n % 5:
            store[key] = f"value number {n}"
        else:
            store.pop(key, None)
    for n in range(3_000):
        lines.append(f"get key-{n}")
        answers.append(f"VALUE {store[f'key-{n}']}" if f"key-{n}" in store else "NONE")
    return "\n".join(lines) + "\n", "\n".join(answers) + "\n", store


LINES, ANSWERS, STORE = session()
CHANGES = "".join(f"set {key} {value}\n" for key, value in BATCH.items())
LIST = "".join(f"{key}\t{value}\n" for key, value in sorted({**STORE, **BATCH}.items()))


def work(program) -> None:
    assert program.run("session", stdin=LINES, timeout=60).out == ANSWERS, "the session is not answered as it should be"
    assert program.run("batch", stdin=CHANGES, timeout=60).out == "OK\n"
    assert program.run("list", timeout=60).out == LIST, "the list is not as it should be"
    assert program.run("compact", timeout=60).out == "OK\n"
    assert program.run("list", timeout=60).out == LIST, "the list is not as it was before the compaction"
