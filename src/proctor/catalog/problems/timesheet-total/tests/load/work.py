"""A sheet of 200,000 lines, of every kind of entry; what is printed is compared as a whole."""

AMOUNTS = {
    "1h15m": 4500,
    "45m": 2700,
    "30s": 30,
    "1.5h": 5400,
    "0.25m": 15,
    "09:15-12:30": 11_700,
    "22:30-01:00": 9000,
    "2h5s": 7205,
}
WRITTEN = list(AMOUNTS)
LINES = "\n".join(f"{WRITTEN[n % 8]}  project {n % 701}" if n % 10 else f"# entry {n}" for n in range(200_000))


def clock(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def expected() -> str:
    times: dict[str, int] = {}
    for n in range(200_000):
        if n % 10:
            times[f"project {n % 701}"] = times.get(f"project {n % 701}", 0) + AMOUNTS[WRITTEN[n % 8]]
    rows = sorted(times.items(), key=lambda one: (-one[1], one[0]))
    return "".join(f"{clock(seconds)} {name}\n" for name, seconds in [*rows, ("TOTAL", sum(times.values()))])


EXPECTED = expected()


def work(program) -> None:
    done = program.run(stdin=LINES, timeout=60)
    assert done.code == 0, done.err
    assert done.out == EXPECTED, "the times are not as they should be"
