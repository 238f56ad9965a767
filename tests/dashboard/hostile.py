"""Texts that try to be more than text, and models and samples that are made of them."""

from __future__ import annotations

import json
from pathlib import Path

# The tests of the dashboard's parts read the same file.
_PARTS = json.loads(Path(__file__).with_suffix(".json").read_text())
PAYLOADS = tuple(
    wrapping.replace("{}", script.replace("{n}", str(number)))
    for number, (wrapping, script) in enumerate((w, s) for w in _PARTS["wrappings"] for s in _PARTS["scripts"])
)
"""Two hundred."""

MODEL = """\
import json, time
from pathlib import Path

# A plan takes along the file of a model and nothing beside it.
PAYLOADS = json.loads(@payloads@)
RELEASE = Path(@release@)


def answer(text: str) -> str:
    return PAYLOADS[int(text.split()[1])]


def other(text: str) -> str:
    number = int(text.split()[1])
    return f"target {number}" if number % 2 else PAYLOADS[-number]


def formatted(text: str) -> str:
    return @formatted@


asked = 0


def slow(text: str) -> str:
    # The first answers come at once, the others when somebody says so, or after a while.
    global asked
    asked += 1
    until = time.monotonic() + (1 if asked > 30 else 0)
    while time.monotonic() < until and not RELEASE.exists():
        time.sleep(0.02)
    return "ANSWER: 7"
"""
FORMATTED = """\
# The **two** robots

The answer is **7**, see [the manual](https://docs.example/a) or https://docs.example and ~~not~~ <b>this</b>.

![a chart](https://pixel.example/chart.png?asked=7)

| robot | bolts | price of each |
|:------|------:|--------------:|
| blue  |   120 |          1.50 |
| white |     7 |         12.00 |

## How it was found

1. Count the bolts.
2. Divide:
   - blue by two
   - [x] white by one

> Every bolt counts.

```python
def bolts(robots: int) -> int:
\treturn robots * 3 + sum(range(robots))  # a line that is longer than a narrow window is wide, so that it scrolls
```

ANSWER: 7
"""
BENCHMARK = """\
name: hostile
version: "1"
dataset: {source: hostile.jsonl, fields: {id: id, input: input, target: target, category: category}}
prompt: {user: "{{ input }}"}
scorers: [exact]
metrics: [accuracy]
"""


def write_hostile(folder: Path) -> None:
    """Models, samples and a benchmark in the folder of a server."""
    model = MODEL.replace("@payloads@", repr(json.dumps(PAYLOADS))).replace("@release@", repr(str(folder / "release")))
    model = model.replace("@formatted@", repr(FORMATTED))
    (folder / "hostile.py").write_text(model)
    (folder / "hostile.yaml").write_text(BENCHMARK)
    samples = [
        {
            "id": f"{number} {payload}",
            "input": f"sample {number} {payload}",
            "target": f"target {number}",
            "category": PAYLOADS[number % 7],
        }
        for number, payload in enumerate(PAYLOADS)
    ]
    (folder / "hostile.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
