"""A document of about 60,000 tokens, formatted and turned into JSON."""

ENTRY = """
# service {n}
service "s{n}" {{
  name = "service \\"{n}\\"" port = {n} tags = ["a", "b", [1, 2, 3],]  # own
  limits {{ memory = 1_000 enabled = true }}
}}
"""


def work(program) -> None:
    text = "".join(ENTRY.format(n=n) for n in range(1_300))
    formatted = program.run("fmt", stdin=text, timeout=60)
    assert formatted.code == 0, formatted.err
    assert formatted.out.count("\n") == 12 * 1_300 - 1
    assert program.run("json", stdin=formatted.out, timeout=60).code == 0
