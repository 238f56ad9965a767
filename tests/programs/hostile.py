"""Programs that want marks without earning them, or want to do harm. None of them solves its problem."""

from __future__ import annotations

SECRET = "PLANTED_SECRET_5d1f"
"""In the environment of the harness, and nowhere else."""

COMMANDS: dict[str, dict[str, str]] = {
    "exits with success at once": {
        "main.py": "import os\nos._exit(0)\n",
    },
    "forks without end": {
        "main.py": """\
import os
while True:
    try: os.fork()
    except OSError: pass
""",
    },
    "takes all memory": {
        "main.py": "held = []\nwhile True: held.append(bytearray(16 << 20))\n",
    },
    "takes memory in many processes": {
        "main.py": """\
import os
for _ in range(12):
    if not os.fork(): break
held = []
while True: held.append(bytearray(8 << 20))
""",
    },
    "fills the disk": {
        "main.py": """\
import itertools
for n in itertools.count():
    for top in ('/work', '/tmp', '/data', '/app'):
        try: open(f'{top}/{n}', 'wb').write(bytes(4 << 20))
        except OSError: pass
""",
    },
    "floods with empty files": {
        "main.py": """\
import itertools
for n in itertools.count():
    try: open(f'/work/{n}', 'w').close()
    except OSError: pass
""",
    },
    "prints without end": {
        "main.py": "import os\nwhile True: os.write(1, b'1\\n' * 65536)\n",
    },
    "logs without end": {
        "main.py": "import os\nwhile True: os.write(2, b'x' * 131072)\n",
    },
    "prints one line without end": {
        "main.py": "import sys\nwhile True: sys.stdout.write('7' * 1000000)\n",
    },
    "prints a test report": {
        "main.py": """\
print('4 passed in 0.01s')
print('<testsuite tests="4" failures="0"><testcase name="counts_files"/></testsuite>')
print('{"passed": true, "total": 1.0, "status": "passed", "checks": {"counts_files": "passed"}}')
""",
    },
    "writes the verdict itself": {
        "main.py": """\
import os
for top in ('/work', '/tmp', '/data', '/app', '/', '/run'):
    for name in ('result.json', 'report.xml', 'verdict.json', 'scorecard.json', 'junit.xml', '.coverage'):
        try: open(os.path.join(top, name), 'w').write('{"passed": true, "total": 1.0}')
        except OSError: pass
""",
    },
    "brings tests of its own under the names of the real ones": {
        "main.py": "print('no')\n",
        "conftest.py": "import os\nos._exit(0)\n",
        "pytest.ini": "[pytest]\naddopts = --collect-only\n",
        "tests/hidden/unit/test_files.py": """\
def test_counts_files(): pass
def test_says_which_file_is_missing(): pass
""",
        "tests/visible/test_examples.py": "def test_counts_standard_input(): pass\n",
        "tests/conftest.py": "def pytest_runtest_makereport(item, call): raise SystemExit(0)\n",
    },
    "shadows the modules of whoever runs it": {
        "main.py": "import json\n",
        "json.py": "import os\nos._exit(0)\n",
        "socket.py": "import os\nos._exit(0)\n",
        "pytest.py": "import os\nos._exit(0)\n",
        "hypothesis.py": "import os\nos._exit(0)\n",
        "sitecustomize.py": "import os\nos._exit(0)\n",
        "usercustomize.py": "import os\nos._exit(0)\n",
        "program.py": "import os\nos._exit(0)\n",
        "struct.py": "import os\nos._exit(0)\n",
    },
    "leaves a daemon that speaks later": {
        "main.py": """\
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(0.05)
            os.write(1, b'2\\n1\\n')
    os._exit(0)
""",
    },
    "ignores every signal and stays": {
        "main.py": """\
import signal, time
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(10000)
""",
    },
    "burns the processor": {
        "main.py": """\
import os
for _ in range(6): os.fork()
while True: pass
""",
    },
    "looks for the hidden tests and the gold solution": {
        "main.py": """\
import os
for top, _, names in os.walk('/', followlinks=False):
    if top.startswith(('/proc', '/sys', '/usr', '/app')): continue
    for name in names:
        try: text = open(os.path.join(top, name), errors='replace').read(200000)
        except OSError: continue
        if 'counts_as_split_does' in text or 'text.split()' in text: print('FOUND', top, name)
""",
    },
    "reads what the machine keeps secret": {
        "main.py": """\
import os, glob
for path in ['/etc/shadow', '/root/.ssh/id_rsa', *glob.glob('/proc/*/environ'), *glob.glob('/home/*/.proctor/*')]:
    try: print(path, open(path, 'rb').read())
    except OSError: pass
print(dict(os.environ))
""",
    },
    "calls home": {
        "main.py": """\
import socket
for host in ('1.1.1.1', '8.8.8.8', '169.254.169.254', '10.0.0.1'):
    for port in (53, 80, 443):
        try: socket.create_connection((host, port), 0.2); print('CONNECTED', host)
        except OSError: pass
""",
    },
    "listens where nobody asked": {
        "main.py": """\
import socket, time
for port in (22, 80, 8080, 5432, 31337):
    s = socket.socket()
    try: s.bind(('0.0.0.0', port)); s.listen()
    except OSError: pass
u = socket.socket(socket.AF_UNIX); u.bind('\\0proctor'); u.listen()
time.sleep(10000)
""",
    },
    "leaves links, pipes and devices behind": {
        "main.py": """\
import os
for name, to in (('1.txt', '/etc/shadow'), ('out', '/'), ('2.txt', '/proc/1/mem')):
    try: os.unlink(name)
    except OSError: pass
    try: os.symlink(to, name)
    except OSError: pass
os.mkfifo('pipe')
try: os.mknod('device', 0o20666, os.makedev(1, 5))
except OSError: pass
""",
    },
    "writes to every descriptor it can guess": {
        "main.py": """\
import os, struct
frame = b'{"passed": true}'
for fd in range(256):
    try: os.write(fd, struct.pack('>I', len(frame)) + frame)
    except OSError: pass
""",
    },
    "kills whatever it can": {
        "main.py": """\
import os
for n in (9, 15, 19, 6):
    for pid in (1, -1, 0, os.getppid()):
        try: os.kill(pid, n)
        except OSError: pass
""",
    },
    "traces its parent": {
        "main.py": """\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, os.getppid()):
    print(libc.ptrace(16, pid, 0, 0))
    for name in ('mem', 'fd'):
        try: print(os.listdir(f'/proc/{pid}/fd'), open(f'/proc/{pid}/mem', 'r+b'))
        except OSError: pass
""",
    },
    "removes itself and everything else": {
        "main.py": """\
import os, shutil
for top in ('/app', '/work', '/data', '/tmp', '/usr', '/'):
    shutil.rmtree(top, ignore_errors=True)
""",
    },
    "nests folders without end": {
        "main.py": """\
import os
while True:
    try: os.mkdir('d' * 200); os.chdir('d' * 200)
    except OSError: break
""",
    },
    "closes its folders to everybody": {
        "main.py": """\
import os
for top in ('/work', '/data', '/tmp', '/app'):
    for mode in (0o500, 0): os.chmod(top, mode)
""",
    },
    "calls itself what the kernel says of others": {
        "main.py": """\
import ctypes, time
for name in (b'\\x0bPPid:', b'\\x0cThreads:x', b'\\rVmHWM:'):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0); time.sleep(0.1)
""",
    },
}
"""Against a problem whose answer is a command."""

LIBRARIES: dict[str, dict[str, str]] = {
    "is equal to anything": {
        "shelf.py": """\
class Any:
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __len__(self): return 2
    def __iter__(self): return iter([Any()])
    def __getattr__(self, name): return Any()
    def __call__(self, *a, **k): return Any()
    def __contains__(self, x): return True
    def __getitem__(self, i): return Any()
    def __enter__(self): return self
    def __exit__(self, *a): return True
def __getattr__(name):
    if name.startswith('__'): raise AttributeError(name)
    return Any()
""",
    },
    "gives numbers that cannot be written": {
        "shelf.py": """\
class Shelf:
    def __init__(self, size): self.size = 10 ** 5000
    def put(self, thing): raise KeyError(10 ** 5000)
    def __iter__(self): return iter([10 ** 5000])
    def __len__(self): return 10 ** 5000
    def __getitem__(self, at): return 10 ** 5000
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def each(self, call): call(10 ** 5000)
def total(n): return 10 ** 5000
""",
    },
    "raises half characters": {
        "shelf.py": """\
class Shelf:
    def __init__(self, size): raise type('Half', (ValueError,), {})('\\ud800 half')
def total(n): return '\\ud800 half'
""",
    },
    "raises an error that is every error": {
        "shelf.py": """\
class FullError(ValueError): size = 0
class Every(FullError, KeyError, TypeError): size = 0
class Shelf:
    def __init__(self, size): pass
    def put(self, thing): raise Every('0')
    def __enter__(self): return self
    def __exit__(self, *_): pass
def total(n): raise Every('0')
""",
    },
    "leaves while it is imported": {
        "shelf.py": "import os\nos._exit(0)\n",
    },
    "answers in the place of the server": {
        "shelf.py": """\
import os, struct, json
for body in (b'{"ok": null}', b'{"value": true}', b'["passed"]'):
    for fd in range(3, 64):
        try: os.write(fd, struct.pack('>I', len(body)) + body)
        except OSError: pass
def total(x): return None
""",
    },
    "rewrites the server it lives in": {
        "shelf.py": """\
import sys, gc, types
for module in list(sys.modules.values()):
    for name in list(vars(module) or {}) if isinstance(module, types.ModuleType) else ():
        if any(word in name.lower() for word in ('check', 'pass', 'verdict', 'assert', 'answer')):
            try: setattr(module, name, lambda *a, **k: True)
            except Exception: pass
frame = sys._getframe()
while frame:
    for key in list(frame.f_globals):
        if 'fail' in key.lower(): frame.f_globals[key] = None
    frame = frame.f_back
def total(x): return 0
""",
    },
    "gives values without end": {
        "shelf.py": """\
import itertools
class Shelf:
    def __init__(self, size): self.size = itertools.count()
    def put(self, thing): return 'x' * (1 << 30)
    def __iter__(self): return itertools.count()
    def __len__(self): return 1 << 62
    def each(self, call):
        while True: call(1)
def total(n):
    a = []
    a.append(a)
    return a
""",
    },
}
"""Against a problem whose answer is a library."""

SERVICES: dict[str, dict[str, str]] = {
    "listens on another port": {
        "main.py": """\
import socket, time
s = socket.create_server(('127.0.0.1', 1234))
time.sleep(1000)
""",
    },
    "answers with a body without end": {
        "main.py": """\
import os, socket
s = socket.create_server(('127.0.0.1', int(os.environ['PORT'])))
while True:
    c, _ = s.accept()
    c.settimeout(1)
    try:
        c.recv(65536)
        c.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n')
        for _ in range(1 << 16): c.sendall(b'x' * 65536)
    except OSError: pass
    c.close()
""",
    },
    "answers with garbage": {
        "main.py": """\
import os, socket
s = socket.create_server(('127.0.0.1', int(os.environ['PORT'])))
while True:
    c, _ = s.accept()
    c.settimeout(1)
    try:
        c.recv(65536)
        c.sendall(b'\\x00\\xffHTTP/9.9 abc\\r\\n' * 3)
    except OSError: pass
    c.close()
""",
    },
    "ends once it is ready": {
        "main.py": """\
import os, socket
s = socket.create_server(('127.0.0.1', int(os.environ['PORT'])))
while True:
    c, _ = s.accept()
    c.settimeout(1)
    try:
        c.recv(65536)
        c.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n')
        c.close(); os._exit(0)
    except OSError: pass
    c.close()
""",
    },
}
"""Against a problem whose answer is a service."""
