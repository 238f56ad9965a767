"""A document of about 60,000 tokens, formatted and turned into JSON; what is printed is compared as a whole."""

import json

ENTRY = """
# service {n}
service "s{n}" {{
  name = "service \\"{n}\\"" port = {n} tags = ["a", "b", [1, 2, 3],]  # own
  limits {{ memory = 1_000 enabled = true }}
}}
"""
FORMATTED = """\
# service {n}
service "s{n}" {{
  name = "service \\"{n}\\""
  port = {n}
  tags = ["a", "b", [1, 2, 3]]  # own

  limits {{
    memory = 1000
    enabled = true
  }}
}}
"""
TEXT = "".join(ENTRY.format(n=n) for n in range(1_300))
CANONICAL = "\n".join(FORMATTED.format(n=n) for n in range(1_300))
SERVICES = {
    f"s{n}": {
        "name": f'service "{n}"',
        "port": n,
        "tags": ["a", "b", [1, 2, 3]],
        "limits": {"memory": 1000, "enabled": True},
    }
    for n in range(1_300)
}


def work(program) -> None:
    done = program.run("fmt", stdin=TEXT, timeout=60)
    assert done.code == 0, done.err
    assert done.out == CANONICAL, "the document is not formatted as it should be"
    done = program.run("json", stdin=CANONICAL, timeout=60)
    assert done.code == 0, done.err
    assert json.loads(done.out) == {"service": SERVICES}, "the JSON is not as it should be"
