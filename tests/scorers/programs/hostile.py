"""Programs that want marks without earning them, or want to do harm. None of them solves its problem."""

from __future__ import annotations

SECRET = "PLANTED_SECRET_5d1f"
"""In the environment of the harness, and nowhere else."""

_FORGED = '<testsuite tests="4" failures="0"><testcase name="counts_files"/></testsuite>'
_VERDICT = '{"passed": true, "total": 1.0, "status": "passed", "checks": {"counts_files": "passed"}}'

COMMANDS: dict[str, dict[str, str]] = {
    "exits with success at once": {"main.py": "import os\nos._exit(0)\n"},
    "forks without end": {"main.py": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"},
    "takes all memory": {"main.py": "held = []\nwhile True: held.append(bytearray(16 << 20))\n"},
    "takes memory in many processes": {
        "main.py": "import os\nfor _ in range(12):\n    if not os.fork(): break\n"
        "held = []\nwhile True: held.append(bytearray(8 << 20))\n"
    },
    "fills the disk": {
        "main.py": "import itertools\nfor n in itertools.count():\n    for top in ('/work', '/tmp', '/data', '/app'):\n"
        "        try: open(f'{top}/{n}', 'wb').write(bytes(4 << 20))\n        except OSError: pass\n"
    },
    "floods with empty files": {
        "main.py": "import itertools\nfor n in itertools.count():\n    try: open(f'/work/{n}', 'w').close()\n    except OSError: pass\n"
    },
    "prints without end": {"main.py": "import os\nwhile True: os.write(1, b'1\\n' * 65536)\n"},
    "logs without end": {"main.py": "import os\nwhile True: os.write(2, b'x' * 131072)\n"},
    "prints one line without end": {"main.py": "import sys\nwhile True: sys.stdout.write('7' * 1000000)\n"},
    "prints a test report": {"main.py": f"print('4 passed in 0.01s')\nprint({_FORGED!r})\nprint({_VERDICT!r})\n"},
    "writes the verdict itself": {
        "main.py": "import os\nfor top in ('/work', '/tmp', '/data', '/app', '/', '/run'):\n"
        "    for name in ('result.json', 'report.xml', 'verdict.json', 'scorecard.json', 'junit.xml', '.coverage'):\n"
        f"        try: open(os.path.join(top, name), 'w').write({_VERDICT!r})\n        except OSError: pass\n"
    },
    "brings tests of its own under the names of the real ones": {
        "main.py": "print('no')\n",
        "conftest.py": "import os\nos._exit(0)\n",
        "pytest.ini": "[pytest]\naddopts = --collect-only\n",
        "tests/hidden/unit/test_files.py": "def test_counts_files(): pass\ndef test_says_which_file_is_missing(): pass\n",
        "tests/visible/test_examples.py": "def test_counts_standard_input(): pass\n",
        "tests/conftest.py": "def pytest_runtest_makereport(item, call): raise SystemExit(0)\n",
    },
    "shadows the modules of whoever runs it": {
        "main.py": "import json\n",
        **{
            f"{name}.py": "import os\nos._exit(0)\n"
            for name in (
                "json",
                "socket",
                "pytest",
                "hypothesis",
                "sitecustomize",
                "usercustomize",
                "program",
                "struct",
            )
        },
    },
    "leaves a daemon that speaks later": {
        "main.py": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True:\n"
        "            time.sleep(0.05)\n            os.write(1, b'2\\n1\\n')\n    os._exit(0)\n"
    },
    "ignores every signal and stays": {
        "main.py": "import signal, time\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "time.sleep(10000)\n"
    },
    "burns the processor": {"main.py": "import os\nfor _ in range(6): os.fork()\nwhile True: pass\n"},
    "looks for the hidden tests and the gold solution": {
        "main.py": "import os\nfor top, _, names in os.walk('/', followlinks=False):\n"
        "    if top.startswith(('/proc', '/sys', '/usr', '/app')): continue\n    for name in names:\n        try: text = open(os.path.join(top, name), errors='replace').read(200000)\n"
        "        except OSError: continue\n        if 'counts_as_split_does' in text or 'text.split()' in text: print('FOUND', top, name)\n"
    },
    "reads what the machine keeps secret": {
        "main.py": "import os, glob\nfor path in ['/etc/shadow', '/root/.ssh/id_rsa', *glob.glob('/proc/*/environ'), *glob.glob('/home/*/.proctor/*')]:\n"
        "    try: print(path, open(path, 'rb').read())\n    except OSError: pass\nprint(dict(os.environ))\n"
    },
    "calls home": {
        "main.py": "import socket\nfor host in ('1.1.1.1', '8.8.8.8', '169.254.169.254', '10.0.0.1'):\n    for port in (53, 80, 443):\n"
        "        try: socket.create_connection((host, port), 0.2); print('CONNECTED', host)\n        except OSError: pass\n"
    },
    "listens where nobody asked": {
        "main.py": "import socket, time\nfor port in (22, 80, 8080, 5432, 31337):\n    s = socket.socket()\n    try: s.bind(('0.0.0.0', port)); s.listen()\n    except OSError: pass\n"
        "u = socket.socket(socket.AF_UNIX); u.bind('\\0proctor'); u.listen()\ntime.sleep(10000)\n"
    },
    "leaves links, pipes and devices behind": {
        "main.py": "import os\nfor name, to in (('1.txt', '/etc/shadow'), ('out', '/'), ('2.txt', '/proc/1/mem')):\n    try: os.unlink(name)\n    except OSError: pass\n"
        "    try: os.symlink(to, name)\n    except OSError: pass\nos.mkfifo('pipe')\ntry: os.mknod('device', 0o20666, os.makedev(1, 5))\nexcept OSError: pass\n"
    },
    "writes to every descriptor it can guess": {
        "main.py": "import os, struct\nframe = b'{\"passed\": true}'\nfor fd in range(256):\n    try: os.write(fd, struct.pack('>I', len(frame)) + frame)\n    except OSError: pass\n"
    },
    "kills whatever it can": {
        "main.py": "import os\nfor n in (9, 15, 19, 6):\n    for pid in (1, -1, 0, os.getppid()):\n        try: os.kill(pid, n)\n        except OSError: pass\n"
    },
    "traces its parent": {
        "main.py": "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nfor pid in (1, os.getppid()):\n    print(libc.ptrace(16, pid, 0, 0))\n"
        "    for name in ('mem', 'fd'):\n        try: print(os.listdir(f'/proc/{pid}/fd'), open(f'/proc/{pid}/mem', 'r+b'))\n        except OSError: pass\n"
    },
    "removes itself and everything else": {
        "main.py": "import os, shutil\nfor top in ('/app', '/work', '/data', '/tmp', '/usr', '/'):\n    shutil.rmtree(top, ignore_errors=True)\n"
    },
    "nests folders without end": {
        "main.py": "import os\nwhile True:\n    try: os.mkdir('d' * 200); os.chdir('d' * 200)\n    except OSError: break\n"
    },
}
"""Against a problem whose answer is a command."""

LIBRARIES: dict[str, dict[str, str]] = {
    "is equal to anything": {
        "shelf.py": "class Any:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n    def __len__(self): return 2\n"
        "    def __iter__(self): return iter([Any()])\n    def __getattr__(self, name): return Any()\n    def __call__(self, *a, **k): return Any()\n"
        "    def __contains__(self, x): return True\n    def __getitem__(self, i): return Any()\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\n"
        "def __getattr__(name):\n    if name.startswith('__'): raise AttributeError(name)\n    return Any()\n"
    },
    "leaves while it is imported": {"shelf.py": "import os\nos._exit(0)\n"},
    "answers in the place of the server": {
        "shelf.py": "import os, struct, json\nfor body in (b'{\"ok\": null}', b'{\"value\": true}', b'[\"passed\"]'):\n    for fd in range(3, 64):\n"
        "        try: os.write(fd, struct.pack('>I', len(body)) + body)\n        except OSError: pass\ndef total(x): return None\n"
    },
    "rewrites the server it lives in": {
        "shelf.py": "import sys, gc, types\nfor module in list(sys.modules.values()):\n    for name in list(vars(module) or {}) if isinstance(module, types.ModuleType) else ():\n"
        "        if any(word in name.lower() for word in ('check', 'pass', 'verdict', 'assert', 'answer')):\n            try: setattr(module, name, lambda *a, **k: True)\n            except Exception: pass\n"
        "frame = sys._getframe()\nwhile frame:\n    for key in list(frame.f_globals):\n        if 'fail' in key.lower(): frame.f_globals[key] = None\n    frame = frame.f_back\ndef total(x): return 0\n"
    },
    "gives values without end": {
        "shelf.py": "import itertools\nclass Shelf:\n    def __init__(self, size): self.size = itertools.count()\n    def put(self, thing): return 'x' * (1 << 30)\n    def __iter__(self): return itertools.count()\n"
        "    def __len__(self): return 1 << 62\n    def each(self, call):\n        while True: call(1)\ndef total(n):\n    a = []\n    a.append(a)\n    return a\n"
    },
}
"""Against a problem whose answer is a library."""

_SERVE = "import os, socket\ns = socket.create_server(('127.0.0.1', int(os.environ['PORT'])))\nwhile True:\n    c, _ = s.accept()\n    c.settimeout(1)\n    try:\n        c.recv(65536)\n        "
_END = "\n    except OSError: pass\n    c.close()\n"
SERVICES: dict[str, dict[str, str]] = {
    "listens on another port": {
        "main.py": "import socket, time\ns = socket.create_server(('127.0.0.1', 1234))\ntime.sleep(1000)\n"
    },
    "answers with a body without end": {
        "main.py": _SERVE
        + "c.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n')\n        for _ in range(1 << 16): c.sendall(b'x' * 65536)"
        + _END
    },
    "answers with garbage": {"main.py": _SERVE + "c.sendall(b'\\x00\\xffHTTP/9.9 abc\\r\\n' * 3)" + _END},
    "ends once it is ready": {
        "main.py": _SERVE
        + "c.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n')\n        c.close(); os._exit(0)"
        + _END
    },
}
"""Against a problem whose answer is a service."""
