"""Words, addresses and numbers found in a long text."""


def work(program):
    text = "Write to ada@example.org, or call 555-0199 before 17:30 on 2026-03-01. " * 120
    for pattern in (r"\w+@\w+\.\w+", r"\d{3}-\d{4}", r"[A-Z][a-z]+", r"(\d|:|-)+"):
        assert program.module.compile(pattern).findall(text)
