"""Answers as models write them, each with the files a reader would take from it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

MAIN = '''"""Counts words."""

import sys


def count(text: str) -> int:
    return len(text.split())


if __name__ == "__main__":
    print(count(sys.stdin.read()))
'''
STORE = """import json


class Store:
    def __init__(self, path):
        self.path = path

    def save(self, value):
        with open(self.path, "w") as f:
            json.dump(value, f)
"""
NODE = """const fs = require("fs");

const text = fs.readFileSync(0, "utf8");
console.log(text.split(/\\s+/).filter(Boolean).length);
"""
TEST = """from main import count


def test_count():
    assert count("a b") == 2
"""
README = """# Words

Counts words.

## Usage

Run it.
"""
FENCED_README = """# Words

```bash
python3 main.py < text.txt
```

## Licence

MIT
"""
DOCUMENTED = '''def parse(text):
    """Parse a table.

    ```
    a | b
    ```
    """
    return text.split("|")
'''
PACKAGE = '{\n  "name": "words",\n  "main": "main.js"\n}\n'
PY, JS = ("main.py",), ("main.js",)
BOTH = ("main.py", "main.js")


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    files: dict[str, str]
    entries: tuple[str, ...] = PY
    given: dict[str, str] = field(default_factory=dict)


def fence(info: str, content: str, marks: str = "```") -> str:
    return f"{marks}{info}\n{content}{marks}\n"


def indented(text: str, by: str) -> str:
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


ONE = {"main.py": MAIN}
TWO = {"main.py": MAIN, "store.py": STORE}
INFO = [
    Case("language and path", fence("python main.py", MAIN), ONE),
    Case("path alone", fence("main.py", MAIN), ONE),
    Case("colon", fence("python:main.py", MAIN), ONE),
    Case("title", fence('python title="main.py"', MAIN), ONE),
    Case("title in single quotes", fence("python title='main.py'", MAIN), ONE),
    Case("filename", fence("python filename=main.py", MAIN), ONE),
    Case("braces", fence('python {path="main.py"}', MAIN), ONE),
    Case("attribute file", fence('py file="main.py"', MAIN), ONE),
    Case("comment in the info", fence("python # main.py", MAIN), ONE),
    Case("slashes in the info", fence("javascript // main.js", NODE), {"main.js": NODE}, JS),
    Case("parentheses", fence("python (main.py)", MAIN), ONE),
    Case("tildes", fence("python main.py", MAIN, "~~~"), ONE),
    Case(
        "folders",
        fence("python main.py", MAIN) + fence("python lib/deep/store.py", STORE),
        {**ONE, "lib/deep/store.py": STORE},
    ),
    Case("dot slash", fence("python ./main.py", MAIN), ONE),
    Case(
        "windows", fence("python main.py", MAIN) + fence("python lib\\store.py", STORE), {**ONE, "lib/store.py": STORE}
    ),
    Case(
        "two files and prose",
        f"Sure! Here it is.\n\n{fence('python main.py', MAIN)}\nAnd:\n\n{fence('python store.py', STORE)}\nBye.",
        TWO,
    ),
    Case(
        "a title with a space",
        fence("python main.py", MAIN) + fence('text title="my notes.txt"', "hello\n"),
        {**ONE, "my notes.txt": "hello\n"},
    ),
    Case(
        "requirements and makefile",
        fence("python main.py", MAIN)
        + fence("text requirements.txt", "# none\n")
        + fence("make Makefile", "run:\n\tpython3 main.py\n"),
        {**ONE, "requirements.txt": "# none\n", "Makefile": "run:\n\tpython3 main.py\n"},
    ),
]
LABELS = [
    Case("heading", f"### main.py\n\n{fence('python', MAIN)}", ONE),
    Case(
        "heading with backticks",
        f"### `main.py`\n{fence('python', MAIN)}\n### `store.py`\n{fence('python', STORE)}",
        TWO,
    ),
    Case(
        "heading with a number",
        f"## 1. main.py\n\n{fence('python', MAIN)}\n## 2. store.py\n\n{fence('python', STORE)}",
        TWO,
    ),
    Case("file colon", f"File: main.py\n{fence('python', MAIN)}", ONE),
    Case("file colon in backticks", f"File: `main.py`\n\n{fence('python', MAIN)}", ONE),
    Case("bold", f"**main.py**\n{fence('python', MAIN)}", ONE),
    Case("bold with colon", f"**`main.py`:**\n\n{fence('python', MAIN)}", ONE),
    Case("bold file word", f"**File: main.py**\n\n{fence('python', MAIN)}", ONE),
    Case("plain with colon", f"main.py:\n{fence('python', MAIN)}", ONE),
    Case("backticks alone", f"`main.py`\n\n{fence('python', MAIN)}", ONE),
    Case("a remark in brackets", f"### main.py (the entry point)\n\n{fence('python', MAIN)}", ONE),
    Case(
        "a remark after a dash",
        f"#### store.py — keeps the data\n\n{fence('python', STORE)}#### main.py - counts\n\n{fence('python', MAIN)}",
        TWO,
    ),
    Case(
        "numbered list",
        f"1. `main.py`\n\n{indented(fence('python', MAIN), '   ')}\n"
        f"2. `store.py`\n\n{indented(fence('python', STORE), '   ')}",
        TWO,
    ),
    Case(
        "prose that leads to it",
        f"Create `main.py`:\n\n{fence('python', MAIN)}\nThe store goes in `store.py`:\n\n{fence('python', STORE)}",
        TWO,
    ),
    Case("prose without backticks", f"Here is the content of main.py:\n\n{fence('python', MAIN)}", ONE),
    Case("heading sentence", f"### The entry point: `main.py`\n{fence('python', MAIN)}", ONE),
    Case("quoted block", "".join(f"> {line}\n" for line in f"main.py\n{fence('python', MAIN)}".splitlines()), ONE),
    Case(
        "commands are no files",
        f"**main.py**\n{fence('python', MAIN)}\nRun it:\n\n{fence('bash', 'python3 main.py < a.txt' + chr(10))}",
        ONE,
    ),
    Case(
        "expected output is no file",
        f"**main.py**\n{fence('python', MAIN)}\nOutput:\n\n{fence('', '3' + chr(10))}",
        ONE,
    ),
]
COMMENTS = [
    Case("comment in the first line", fence("python", f"# main.py\n{MAIN}"), {"main.py": f"# main.py\n{MAIN}"}),
    Case("comment with a word", fence("python", f"# File: main.py\n{MAIN}"), {"main.py": f"# File: main.py\n{MAIN}"}),
    Case(
        "comment after the shebang",
        fence("python", f"#!/usr/bin/env python3\n# main.py\n{MAIN}"),
        {"main.py": f"#!/usr/bin/env python3\n# main.py\n{MAIN}"},
    ),
    Case("slashes", fence("javascript", f"// main.js\n{NODE}"), {"main.js": f"// main.js\n{NODE}"}, JS),
    Case("block comment", fence("js", f"/* main.js */\n{NODE}"), {"main.js": f"/* main.js */\n{NODE}"}, JS),
    Case(
        "several by comment",
        fence("python", f"# store.py\n{STORE}") + fence("python", f"# main.py\n{MAIN}"),
        {"store.py": f"# store.py\n{STORE}", "main.py": f"# main.py\n{MAIN}"},
    ),
    Case(
        "package.json loses its comment",
        fence("javascript main.js", NODE) + fence("json", f"// package.json\n{PACKAGE}"),
        {"main.js": NODE, "package.json": PACKAGE},
        JS,
    ),
    Case(
        "html comment",
        fence("python main.py", MAIN) + fence("markdown", f"<!-- README.md -->\n{README}"),
        {**ONE, "README.md": f"<!-- README.md -->\n{README}"},
    ),
]
SINGLE = [
    Case("one block without a name", fence("python", MAIN), ONE),
    Case("one block without a language", fence("", MAIN), ONE),
    Case("one block among words", f"Here's my solution.\n\n{fence('python', MAIN)}\nIt reads everything first.", ONE),
    Case("javascript of two languages", fence("javascript", NODE), {"main.js": NODE}, BOTH),
    Case("python of two languages", fence("py", MAIN), ONE, BOTH),
    Case(
        "a snippet and the program",
        f"The idea is\n\n{fence('python', 'len(text.split())' + chr(10))}\nThe program:\n\n{fence('python', MAIN)}",
        ONE,
    ),
    Case("the library's file", fence("python", STORE), {"store.py": STORE}, ("store.py", "store/__init__.py")),
    Case("no fence at all", MAIN, ONE),
    Case("no fence and a shebang", f"#!/usr/bin/env node\n{NODE}", {"main.js": f"#!/usr/bin/env node\n{NODE}"}, JS),
    Case(
        "unnamed program, named readme",
        f"{fence('python', MAIN)}\n{fence('markdown README.md', README)}",
        {**ONE, "README.md": README},
    ),
    Case("program and how to run it", f"{fence('python', MAIN)}\n{fence('sh', 'python3 main.py' + chr(10))}", ONE),
    Case(
        "after thinking aloud", f"<think>\nMaybe ```python\nx=1\n```?\n</think>\n{fence('python main.py', MAIN)}", ONE
    ),
]
NESTED = [
    Case(
        "four backticks",
        fence("markdown README.md", FENCED_README, "````") + fence("python main.py", MAIN),
        {**ONE, "README.md": FENCED_README},
    ),
    Case(
        "a readme with a fence of the same length",
        fence("markdown README.md", FENCED_README) + "\n" + fence("python main.py", MAIN),
        {**ONE, "README.md": FENCED_README},
    ),
    Case(
        "the readme last",
        fence("python main.py", MAIN) + "\n**README.md**\n\n" + fence("markdown", FENCED_README),
        {**ONE, "README.md": FENCED_README},
    ),
    Case(
        "a bare fence in a readme",
        fence("markdown README.md", FENCED_README.replace("```bash", "Usage:\n\n```")) + fence("python main.py", MAIN),
        {**ONE, "README.md": FENCED_README.replace("```bash", "Usage:\n\n```")},
    ),
    Case(
        "a fence in a docstring",
        fence("python main.py", DOCUMENTED.replace("    ```", "```")) + fence("python store.py", STORE),
        {"main.py": DOCUMENTED.replace("    ```", "```"), "store.py": STORE},
    ),
    Case("an indented fence in a docstring", fence("python main.py", DOCUMENTED), {"main.py": DOCUMENTED}),
    Case(
        "a language fence in a docstring",
        fence("python main.py", DOCUMENTED.replace("    ```\n    a", "    ```text\n    a")),
        {"main.py": DOCUMENTED.replace("    ```\n    a", "    ```text\n    a")},
    ),
    Case(
        "tildes around backticks",
        fence("markdown README.md", FENCED_README, "~~~") + fence("python main.py", MAIN),
        {**ONE, "README.md": FENCED_README},
    ),
    Case("the last block is cut off", fence("python store.py", STORE) + f"```python main.py\n{MAIN}", TWO),
    Case("a block left open before the next", f"```python store.py\n{STORE}\n```python main.py\n{MAIN}```\n", TWO),
    Case("windows line breaks", fence("python main.py", MAIN).replace("\n", "\r\n"), ONE),
    Case("a revised file", fence("python main.py", "x = 1\n") + "Better:\n\n" + fence("python main.py", MAIN), ONE),
]
JSONS = [
    Case("files by path", json.dumps({"files": TWO}), TWO),
    Case(
        "a list of files", json.dumps({"files": [{"path": path, "content": text} for path, text in TWO.items()]}), TWO
    ),
    Case("a bare list", json.dumps([{"name": path, "code": text} for path, text in TWO.items()]), TWO),
    Case("paths at the top", json.dumps(TWO), TWO),
    Case("in a fence", f"Here you go:\n\n{fence('json', json.dumps({'files': TWO}, indent=2) + chr(10))}", TWO),
    Case("in words", f"The program: {json.dumps({'files': ONE})} Enjoy.", ONE),
    Case("lines", json.dumps({"files": [{"path": "main.py", "content": MAIN.splitlines()}]}), ONE),
    Case("contents in objects", json.dumps({"main.py": {"content": MAIN}}), ONE),
    Case(
        "raw line breaks in strings",
        '{"files": {"main.py": "' + MAIN.replace("\\", "\\\\").replace('"', '\\"') + '"}}',
        ONE,
    ),
    Case("one file", json.dumps({"filename": "main.py", "content": MAIN}), ONE),
    Case("an explanation beside the files", json.dumps({"explanation": "It counts.", "files": ONE}), ONE),
]
TAGS = [
    Case("path", f'<file path="main.py">\n{MAIN}</file>', ONE),
    Case("several", "".join(f'<file path="{path}">\n{text}</file>\n\n' for path, text in TWO.items()), TWO),
    Case("name", f"<file name='main.py'>\n{MAIN}</file>", ONE),
    Case("a fence inside", f'<file path="main.py">\n{fence("python", MAIN)}</file>', ONE),
    Case("cdata", f'<file path="main.py"><![CDATA[\n{MAIN}]]></file>', ONE),
    Case("inner tags", f"<file>\n<path>main.py</path>\n<content>\n{MAIN}</content>\n</file>", ONE),
    Case("artifact", f'<artifact type="code" title="main.py">\n{MAIN}</artifact>', ONE),
    Case(
        "tags in the program's own text",
        fence("python main.py", 'X = """\n<file path="a.txt">\n</file>\n"""\n'),
        {"main.py": 'X = """\n<file path="a.txt">\n</file>\n"""\n'},
    ),
    Case(
        "a readme with fences",
        f'<file path="README.md">\n{FENCED_README}</file>\n<file path="main.py">\n{MAIN}</file>',
        {"README.md": FENCED_README, "main.py": MAIN},
    ),
]
HUNK = """--- a/main.py
+++ b/main.py
@@ -5,3 +5,4 @@
{SPACE}
 def count(text: str) -> int:
+    text = text.lower()
     return len(text.split())
""".replace("{SPACE}", " ")
CHANGED = MAIN.replace("    return len", "    text = text.lower()\n    return len")
NEW_FILE = "--- /dev/null\n+++ b/store.py\n@@ -0,0 +1,9 @@\n" + "".join(f"+{line}\n" for line in STORE.splitlines())
EDIT = (
    "main.py\n<<<<<<< SEARCH\n    return len(text.split())\n=======\n"
    "    text = text.lower()\n    return len(text.split())\n>>>>>>> REPLACE\n"
)
DIFFS = [
    Case("a diff in a fence", fence("diff", HUNK), {"main.py": CHANGED}, given=ONE),
    Case("a bare diff", HUNK, {"main.py": CHANGED}, given=ONE),
    Case(
        "wrong line numbers", fence("diff", HUNK.replace("-5,3 +5,4", "-95,3 +95,4")), {"main.py": CHANGED}, given=ONE
    ),
    Case("no line numbers", fence("diff", HUNK.replace("-5,3 +5,4 @@", "@@")), {"main.py": CHANGED}, given=ONE),
    Case(
        "git's head",
        fence("diff", "diff --git a/main.py b/main.py\nindex 1..2 100644\n" + HUNK),
        {"main.py": CHANGED},
        given=ONE,
    ),
    Case("a new file by diff", fence("diff", HUNK + NEW_FILE), {"main.py": CHANGED, "store.py": STORE}, given=ONE),
    Case("a new program by diff", fence("diff", NEW_FILE.replace("store.py", "main.py")), {"main.py": STORE}),
    Case(
        "a removed file",
        fence("diff", "--- a/store.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-import json\n"),
        ONE,
        given=TWO,
    ),
    Case("search and replace", fence("", EDIT), {"main.py": CHANGED}, given=ONE),
    Case("search and replace without a fence", EDIT, {"main.py": CHANGED}, given=ONE),
    Case(
        "a label before the edit",
        "**main.py**\n" + fence("python", EDIT.removeprefix("main.py\n")),
        {"main.py": CHANGED},
        given=ONE,
    ),
    Case("a whole file and a diff on it", fence("python main.py", MAIN) + fence("diff", HUNK), {"main.py": CHANGED}),
    Case("a whole file after a repair", fence("python main.py", CHANGED), {"main.py": CHANGED}, given={}),
]
FOLDERS = [
    Case("a folder around it", fence("python words/main.py", MAIN) + fence("python words/store.py", STORE), TWO),
    Case(
        "a package of a library",
        fence("python store/__init__.py", STORE) + fence("text README.md", README),
        {"store/__init__.py": STORE, "README.md": README},
        ("store.py", "store/__init__.py"),
    ),
    Case(
        "tests in a folder",
        fence("python main.py", MAIN) + fence("python tests/test_main.py", TEST),
        {**ONE, "tests/test_main.py": TEST},
    ),
]
STRANGE = [
    Case("filename in bold", f"**Filename:** main.py\n\n{fence('python', MAIN)}", ONE),
    Case("a pictogram", f"📄 main.py\n\n{fence('python', MAIN)}\n### 📁 `store.py`\n\n{fence('python', STORE)}", TWO),
    Case("equals signs", f"=== main.py ===\n{fence('python', MAIN)}=== store.py ===\n{fence('python', STORE)}", TWO),
    Case("an underlined heading", f"main.py\n-------\n\n{fence('python', MAIN)}", ONE),
    Case("square brackets", f"[main.py]\n{fence('python', MAIN)}", ONE),
    Case("details", f"<details><summary>main.py</summary>\n\n{fence('python', MAIN)}\n</details>", ONE),
    Case("line numbers in the info", fence("12:30:main.py", MAIN), ONE),
    Case("a shouted comment", fence("js", f"// FILE: main.js\n{NODE}"), {"main.js": f"// FILE: main.js\n{NODE}"}, JS),
    Case("a docstring as the name", fence("python", f'"""main.py"""\n{MAIN}'), {"main.py": f'"""main.py"""\n{MAIN}'}),
    Case(
        "a remark in the comment",
        fence("python", f"# main.py - the entry point\n{MAIN}"),
        {"main.py": f"# main.py - the entry point\n{MAIN}"},
    ),
    Case("a bold path and a remark", f"**main.py** – the entry point\n\n{fence('python', MAIN)}", ONE),
    Case(
        "a tree before the files",
        fence("", "words/\n├── main.py\n└── store.py\n")
        + f"\n**main.py**\n{fence('python', MAIN)}\n**store.py**\n{fence('python', STORE)}",
        TWO,
    ),
    Case("separators without fences", f"--- main.py ---\n{MAIN}--- store.py ---\n{STORE}", TWO),
    Case(
        "two paths in the sentence",
        f"`main.py` uses `store.py`:\n\n{fence('python', MAIN)}\n`store.py`\n\n{fence('python', STORE)}",
        TWO,
    ),
    Case("a heading for a section, then code", f"## Solution\n\n{fence('python', MAIN)}", ONE),
    Case(
        "a test with the program unnamed",
        f"{fence('python', MAIN)}\nTests (`test_main.py`):\n\n{fence('python', TEST)}",
        {**ONE, "test_main.py": TEST},
    ),
]
GROUPS = {
    "strange": STRANGE,
    "info": INFO,
    "labels": LABELS,
    "comments": COMMENTS,
    "single": SINGLE,
    "nested": NESTED,
    "json": JSONS,
    "tags": TAGS,
    "diffs": DIFFS,
    "folders": FOLDERS,
}
NOTHING = [
    Case("words only", "I am sorry, I cannot write this program.", {}),
    Case("empty", "", {}),
    Case("only commands", fence("bash", "pip install words\n"), {}),
    Case("json of something else", json.dumps({"answer": 42}), {}),
    Case("an empty block", "```python\n```", {}),
]
