"""Three files of fifteen thousand records each, merged and counted."""


def work(program):
    files = {}
    for name in range(3):
        lines = [
            f'{{"time": "2026-03-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{name}Z", "level": "info", "host": "m{name}"}}'
            for second in range(15_000)
        ]
        files[f"{name}.log"] = "\n".join(lines) + "\n"
    done = program.run("merge", *files, files=files, timeout=60)
    assert done.code == 0
    assert program.run("stats", *files, timeout=60).code == 0
