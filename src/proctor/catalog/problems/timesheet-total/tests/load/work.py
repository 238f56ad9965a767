"""A sheet of 200,000 lines, of every kind of entry."""

AMOUNTS = ("1h15m", "45m", "30s", "1.5h", "0.25m", "09:15-12:30", "22:30-01:00", "2h5s")


def work(program) -> None:
    lines = (f"{AMOUNTS[n % 8]}  project {n % 701}" if n % 10 else f"# entry {n}" for n in range(200_000))
    done = program.run(stdin="\n".join(lines), timeout=60)
    assert done.code == 0
    assert done.out.count("\n") == 702
