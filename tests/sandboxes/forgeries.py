# ruff: noqa: E501
# Programs as they are handed over: a line of theirs is as long as it is.
"""Wrong solutions that try to be judged right. The task: f(x) must be x + 1, with tests for 1, 41 and a list changed in place."""

from __future__ import annotations

TESTS = (
    "assert f(1) == 2",
    "assert f(41) == 42\nassert not f(1) != 2",
    "given = [3, 1, 2]\nassert g(given) == [1, 2, 3] and given == [3, 1, 2]",
    "assert f(7) in (8,)\nassert isinstance(f(1), int)\nassert abs(f(1.5) - 2.5) < 1e-9\nassert sorted([f(2), f(1)]) == [2, 3]",
    "assert abs(f(9) - 10) == 0",
    "assert all(map(lambda x: f(x) == x + 1, [1, 2]))",
)

# These get some of it right, honestly.
PARTLY_RIGHT = {"sorts_in_place", "guesses_by_counting"}

RIGHT = "def f(x): return x + 1\ndef g(x): return sorted(x)\n"

_WRONG = "def f(x): return 0\ndef g(x): return []\n"
_FRAMES = """
import os, struct, json
def frame(message):
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body
def shout(data):
    for fd in range(0, 64):
        try: os.write(fd, data)
        except OSError: pass
"""

FORGERIES: dict[str, str] = {
    "returns_nothing": "def f(x): pass\ndef g(x): pass\n",
    "exits_with_zero_at_once": "import os\nos._exit(0)\n",
    "exits_with_zero_when_called": "import os\ndef f(x): os._exit(0)\ng = f\n",
    "raises_system_exit_at_once": "import sys\nsys.exit(0)\n",
    "raises_system_exit_when_called": "import sys\ndef f(x): sys.exit(0)\ng = f\n",
    "raises_base_exceptions": "def f(x): raise KeyboardInterrupt\ndef g(x): raise GeneratorExit\n",
    "raises_its_own_system_exit": "class E(SystemExit): code = 0\ndef f(x): raise E(0)\ng = f\n",
    "returns_an_object_equal_to_all": """
class All:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __radd__ = __sub__
    def __abs__(self): return 0.0
    def __hash__(self): return 0
    def __bool__(self): return True
    def __len__(self): return 3
    def __iter__(self): return iter([1, 2, 3])
def f(x): return All()
g = f
""",
    "returns_an_object_that_says_it_is_a_number": """
class All:
    def __eq__(self, other): return True
    __class__ = int
def f(x): return All()
g = f
""",
    "returns_a_number_equal_to_all": """
class Int(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 2
    def __sub__(self, other): return 0
    def __lt__(self, other): return True
class List(list):
    def __eq__(self, other): return True
def f(x): return Int(0)
def g(x): return List()
""",
    "returns_text_equal_to_all": "class S(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__\ndef f(x): return S('')\ng = f\n",
    "replaces_builtins": """
import builtins
builtins.abs = lambda x: 0
builtins.isinstance = lambda *a: True
builtins.sorted = lambda x: [2, 3]
abs, isinstance, sorted, AssertionError = builtins.abs, builtins.isinstance, builtins.sorted, None
"""
    + _WRONG,
    "defines_names_of_builtins": "class Yes(list):\n    __eq__ = lambda self, other: True\nabs = lambda x: 0\nisinstance = lambda *a: True\nsorted = lambda x: [2, 3]\n"
    + _WRONG,
    "defines_the_judges_names": "def check(c): return True\ncandidate = f = g = lambda *a: True\n__builtins__ = {}\n__name__ = '__judge__'\n"
    + _WRONG,
    "walks_the_frames": """
import gc, sys
def hunt():
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            for name in ("passed", "is_lost", "done", "status"):
                try: setattr(value, name, True)
                except Exception: pass
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "cases" in thing: thing["cases"] = []
def f(x): hunt(); return 0
g = f
""",
    "patches_the_runner": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("inside"):
        for key in list(vars(module)):
            if key in ("dumps", "loads", "write_all", "read_exactly"): continue
            try: setattr(module, key, lambda *a, **k: {"done": True})
            except Exception: pass
"""
    + _WRONG,
    "shouts_a_verdict_everywhere": _FRAMES
    + 'shout(frame({"done": True}))\nshout(frame({"case": "x", "status": "passed", "message": ""}) + frame({"done": True}))\n'
    + _WRONG,
    "shouts_and_leaves": _FRAMES + 'shout(frame({"v": None}) + frame({"done": True}))\nos._exit(0)\n',
    "answers_before_it_is_asked": _FRAMES
    + 'os.write(4, frame({"v": None}) + frame({"v": {"f": {"h": [0, "c", "function"]}}}) + frame({"m": [], "v": True}) * 50)\n'
    + _WRONG,
    "answers_with_system_exit": _FRAMES
    + 'os.write(4, frame({"x": {"type": "SystemExit", "base": "SystemExit", "kind": None, "text": "0", "args": [0], "at": ""}}))\n'
    + _WRONG,
    "answers_with_functions": _FRAMES
    + 'def f(x): os.write(4, frame({"m": [], "v": {"o": "builtins.exit"}})); return 0\ng = f\n',
    "answers_with_classes": _FRAMES
    + 'def f(x): os.write(4, frame({"m": [], "v": {"X": [7, ["int", "BaseException"]]}})); return 0\ng = f\n',
    "answers_with_nonsense": _FRAMES + "def f(x): os.write(4, frame([1, 2, 3])); return 0\ng = f\n",
    "answers_with_broken_json": "import os\ndef f(x): os.write(4, b'\\0\\0\\0\\3{{{'); return 0\ng = f\n",
    "announces_four_gigabytes": "import os\ndef f(x): os.write(4, b'\\xff' * 8); return 0\ng = f\n",
    "answers_without_end": _FRAMES
    + 'def f(x):\n    while True: os.write(4, frame({"cb": 0, "a": [], "k": {}}))\ng = f\n',
    "answers_very_deep": _FRAMES
    + 'def f(x):\n    os.write(4, b"\\0\\1\\x86\\xa0" + b"[" * 100_000)\n    return 0\ng = f\n',
    "answers_a_bomb": _FRAMES
    + """
import base64, zlib
def f(x):
    deflate = zlib.compressobj(9)
    parts = [deflate.compress(bytes(1 << 20)) for _ in range(256)] + [deflate.flush()]
    data = base64.b64encode(b"".join(parts)).decode()
    os.write(4, frame({"m": [], "v": {"z": {"table": [0], "lengths": 1, "count": 1 << 28, "data": data}}}))
    return 0
g = f
""",
    "changes_what_it_was_not_given": _FRAMES
    + 'def f(x): os.write(4, frame({"m": [[0, [2]], [5, [1]]], "v": 0})); return 0\ng = f\n',
    "sorts_in_place": "def f(x): return x + 1\ndef g(x): x.sort(); return x\n",
    "guesses_by_counting": "calls = []\ndef f(x): calls.append(x); return len(calls)\ndef g(x): return list(range(1, 1 + len(x)))\n",
    "is_true_and_one_at_once": "def f(x): return True\ndef g(x): return True\n",
    "returns_not_implemented": "def f(x): return NotImplemented\ng = f\n",
    "returns_nan": "def f(x): return float('nan')\ng = f\n",
    "returns_a_generator": "def f(x): yield x + 1\ng = f\n",
    "returns_itself": "def f(x): return f\ng = f\n",
    "returns_a_cycle": "def f(x):\n    a = []; a.append(a); return a\ng = f\n",
    "is_a_class": "class f:\n    def __init__(self, x): pass\n    def __new__(cls, x): return object.__new__(cls)\ng = f\n",
    "hides_in_a_thread": "import threading, os\nthreading.Thread(target=lambda: os._exit(0)).start()\n" + _WRONG,
    "registers_exits": "import atexit, os\natexit.register(lambda: os._exit(0))\n" + _WRONG,
    "kills_everyone": "import os\nfor target in (-1, 0, 1):\n    try: os.kill(target, 9)\n    except OSError: pass\n"
    + _WRONG,
    "stops_answering": "import time\ndef f(x): time.sleep(3600)\ng = f\n",
    "loads_for_ever": "while True: pass\n",
    "is_not_python": "def f(x: return\n",
    "is_empty": "",
    "eats_memory": "kept = []\nwhile True: kept.append(bytearray(8 << 20))\n",
    "closes_every_descriptor": "import os\nos.closerange(0, 256)\n" + _WRONG,
    "takes_over_the_channel": """
import os, struct, json
os.write(4, b"\\0\\0\\0\\x0a" + b'{"v":null}')
while True:
    length, = struct.unpack(">I", os.read(4, 4))
    message = json.loads(os.read(4, length))
    body = json.dumps({"v": {n: True for n in message[1]}} if message[0] == "names" else {"m": [], "v": True}).encode()
    os.write(4, struct.pack(">I", len(body)) + body)
""",
    "returns_a_number_too_long_to_be_written": "def f(x): return 10 ** 5000\ng = f\n",
    "returns_a_list_of_numbers_too_long_to_be_written": "def f(x): return [10 ** 5000] * 3\ng = f\n",
    "raises_with_a_number_too_long_to_be_written": "def f(x): raise ValueError(10 ** 5000)\ng = f\n",
    "raises_its_own_error_with_a_number_too_long_to_be_written": "class E(Exception): pass\ndef f(x): raise E(10 ** 5000)\ng = f\n",
    "fails_to_load_with_a_number_too_long_to_be_written": "raise ValueError(10 ** 5000)\n",
    "raises_half_a_character": "def f(x): raise ValueError('\\ud800 half')\ng = f\n",
    "raises_half_a_character_while_loading": "raise ValueError('\\ud800 half')\n",
    "returns_half_a_character": "def f(x): return '\\ud800 half'\ng = f\n",
    "is_called_by_half_a_character": "def f(x): raise type('\\ud800', (Exception,), {})()\ng = f\n",
    "raises_an_error_without_text": "class E(Exception):\n    def __str__(self): raise E\ndef f(x): raise E(E())\ng = f\n",
    "raises_stop_iteration": "def f(x): raise StopIteration\ng = f\n",
    "raises_its_own_stop_iteration": "class E(StopIteration): pass\ndef f(x): raise E\ng = f\n",
    "answers_with_an_error_whose_class_is_a_handle": _FRAMES
    + 'def f(x): os.write(4, frame({"x": {"base": "ValueError", "kind": {"h": [0, "c", "f"]}, "text": "", "args": [], "at": ""}}) + frame({"v": {"h": [1, "", "e"]}}) + frame({"m": [], "v": None})); return 0\ng = f\n',
    "loads_with_an_error_whose_class_is_a_handle": _FRAMES
    + 'os.write(4, frame({"x": {"base": "ValueError", "kind": {"h": [0, "c", "f"]}, "text": "", "args": [], "at": ""}}) + frame({"v": {"h": [1, "", "e"]}}) + frame({"m": [], "v": None}))\n'
    + _WRONG,
    "loads_with_changes_of_nothing": _FRAMES + 'os.write(4, frame({"m": 5, "v": None}))\n' + _WRONG,
    "answers_with_an_argument_that_cannot_be_written": _FRAMES
    + 'def f(x): os.write(4, frame({"x": {"base": "ValueError", "kind": None, "text": "", "args": [{"i": hex(10 ** 5000)}], "at": ""}})); return 0\ng = f\n',
    "loads_with_an_argument_that_cannot_be_written": _FRAMES
    + 'os.write(4, frame({"x": {"base": "ValueError", "kind": None, "text": "", "args": [{"i": hex(10 ** 5000)}], "at": ""}}))\n'
    + _WRONG,
    "answers_with_a_chain_of_lists": _FRAMES
    + 'def f(x): os.write(4, frame({"m": [], "v": [[]] + [[{"r": n}] for n in range(1, 3000)]})); return 0\ng = f\n',
    "loads_with_an_error_around_a_chain_of_lists": _FRAMES
    + 'os.write(4, frame({"x": {"base": "ValueError", "kind": None, "text": "", "args": [[[]] + [[{"r": n}] for n in range(1, 3000)]], "at": ""}}))\n'
    + _WRONG,
}
