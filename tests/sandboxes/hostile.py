# ruff: noqa: E501
# Programs as they are handed over: a line of theirs is as long as it is.
"""Hostile programs. Each says "ran" first, so that a sandbox in which nothing works holds nothing; a success says "BREACH"."""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = r"""
import ctypes, errno, os, signal, socket, subprocess, sys, time
print("ran", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X86 = os.uname().machine == "x86_64"
def number(x86, arm): return x86 if X86 else arm
def call(nr, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(nr), *args)
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def attempt(name, action):
    try:
        result = action()
    except BaseException as error:
        print("held", name, type(error).__name__, flush=True)
    else:
        print("BREACH", name, repr(result)[:200], flush=True)
def read(path):
    with open(path, "rb") as file:
        return file.read(200)
def write(path, data=b"x"):
    with open(path, "wb") as file:
        file.write(data)
    return path
"""


@dataclass(frozen=True)
class Hostile:
    name: str
    source: str
    endings: frozenset[str] = frozenset({"exited"})
    """Any of these ways to end is containment."""

    @property
    def program(self) -> str:
        return _HEAD + self.source


def _one(name: str, source: str, *endings: str) -> Hostile:
    return Hostile(name, source, frozenset(endings or ("exited",)))


# What a program sees and may touch
FILES = [
    _one(
        "reads_the_password_file",
        'attempt("shadow", lambda: read("/etc/shadow"))\nattempt("gshadow", lambda: read("/etc/gshadow"))',
    ),
    _one(
        "reads_home_folders",
        "for path in PRIVATE_PATHS: attempt(path, lambda: os.listdir(path)[0] if os.path.isdir(path) else read(path))",
    ),
    _one("reads_the_harness", 'attempt("secret", lambda: read(SECRET_PATH))'),
    _one(
        "reads_environment_secrets",
        r"""
import glob
for path in ["/proc/self/environ", "/proc/1/environ", *glob.glob("/proc/[0-9]*/environ")]:
    try: data = open(path, "rb").read()
    except OSError: continue
    if b"TESTS_SECRET" in data or b"hunter2" in data: print("BREACH", path)
if "hunter2" in str(dict(os.environ)): print("BREACH environ")
""",
    ),
    _one(
        "writes_the_system",
        'for path in ("/usr/bin/x", "/etc/x", "/x", "/usr/lib/x", "/bin/x", sys.prefix + "/x", "/dev/x", "/proc/x"):\n    attempt(path, lambda: write(path))',
    ),
    _one(
        "pokes_the_kernel_through_proc",
        r"""
for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory",
             "/sys/fs/cgroup/memory.max", "/sys/kernel/uevent_helper", "/proc/1/oom_score_adj_x"):
    attempt(path, lambda: write(path, b"1"))
""",
    ),
    _one(
        "opens_devices",
        'for path in ("/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/tty", "/dev/tty0", "/dev/fuse", "/dev/kvm", "/dev/net/tun"):\n    attempt(path, lambda: read(path))',
    ),
    _one(
        "makes_devices",
        r"""
attempt("mknod null", lambda: os.mknod("dev", 0o20666, os.makedev(1, 3)))
attempt("mknod disk", lambda: os.mknod("disk", 0o60666, os.makedev(8, 0)))
""",
    ),
    _one("types_into_the_terminal", 'import fcntl\nattempt("TIOCSTI", lambda: fcntl.ioctl(0, 0x5412, b"x"))'),
]

# Other processes
PROCESSES = [
    _one(
        "kills_everything",
        "for target in (-1, 0, os.getppid(), 1):\n    try: os.kill(target, 15 if target == 0 else 9)\n    except OSError: pass\n",
        "exited",
        "crashed",
    ),
    _one("kills_its_group_and_session", "os.killpg(0, 9)", "exited", "crashed"),
    _one(
        "reads_other_memory",
        r"""
class Vec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(64)
local = Vec(ctypes.addressof(buffer), 64)
attempt("process_vm_readv", lambda: call(number(310, 270), 1, ctypes.byref(local), 1, ctypes.byref(local), 1, 0))
attempt("process_vm_writev", lambda: call(number(311, 271), 1, ctypes.byref(local), 1, ctypes.byref(local), 1, 0))
def poke():
    with open("/proc/1/mem", "r+b", 0) as memory:
        memory.seek(int(open("/proc/1/maps").read().split("-")[0], 16))
        return memory.write(b"x")
if os.getpid() != 1: attempt("proc mem", poke)
""",
    ),
    _one(
        "traces_processes",
        r"""
attempt("attach", lambda: call(number(101, 117), 16, os.getppid() or 1, 0, 0))
attempt("seize", lambda: call(number(101, 117), 0x4206, os.getppid() or 1, 0, 0))
""",
    ),
    _one(
        "steals_descriptors",
        r"""
def steal():
    fd = call(number(434, 434), 1, 0)
    return [call(438, fd, n, 0) for n in range(20)]
if os.getpid() != 1: attempt("pidfd_getfd", steal)
for pid in (1, os.getppid()):
    if pid and pid != os.getpid():
        for fd in range(20):
            try: os.close(os.open(f"/proc/{pid}/fd/{fd}", os.O_RDWR)); print("BREACH", pid, fd)
            except OSError: pass
""",
    ),
    _one(
        "sees_other_processes",
        r"""
pids = [name for name in os.listdir("/proc") if name.isdigit()]
if len(pids) > 8: print("BREACH", pids)
""",
    ),
    _one(
        "leaves_a_daemon",
        r"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.execv(sys.executable, [sys.executable, "-S", "-c", "import time\nwhile True: time.sleep(1) # PROCTOR_HOSTILE_DAEMON"])
    os._exit(0)
time.sleep(1)
if not any(b"PROCTOR_HOSTILE_DAEMON" in open(f"/proc/{p}/cmdline", "rb").read() for p in os.listdir("/proc") if p.isdigit()): print("BREACH no daemon")
""",
    ),
    _one("outlives_its_parent_holding_the_pipes", "if os.fork() == 0:\n    while True: time.sleep(60)\n"),
    _one(
        "forks_without_end",
        r"""
children = 0
while True:
    try: pid = os.fork()
    except OSError: continue
    children += 1
""",
        "timeout",
        "processes",
        "cpu",
        "memory",
    ),
    _one(
        "forks_and_fails",
        "pids = []\ntry:\n    while True:\n        pid = os.fork()\n        if pid == 0: time.sleep(30); os._exit(0)\nexcept OSError: sys.exit(7)\n",
        "processes",
        "exited",
        "timeout",
    ),
    _one(
        "starts_threads_without_end",
        r"""
import threading
count = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start(); count += 1
        if count > 2000: print("BREACH", count); break
except RuntimeError: pass
os._exit(0)
""",
        "exited",
        "memory",
        "processes",
        "timeout",
    ),
]

# Privileges and the kernel
PRIVILEGES = [
    _one(
        "makes_namespaces",
        r"""
for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("pid", 0x20000000), ("net", 0x40000000), ("uts", 0x4000000), ("all", 0x7e020000)):
    attempt("unshare " + name, lambda: call(number(272, 97), ctypes.c_ulong(flag)))
    attempt("clone " + name, lambda: call(number(56, 220), ctypes.c_ulong(flag | 17), 0, 0, 0, 0) or os._exit(0))
""",
    ),
    _one(
        "makes_namespaces_with_clone3",
        r"""
arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
attempt("clone3", lambda: call(435, ctypes.byref(arguments), 88) or os._exit(0))
""",
    ),
    _one(
        "joins_namespaces",
        r"""
def join(kind):
    fd = os.open("/proc/1/ns/" + kind, os.O_RDONLY)
    return call(number(308, 268), fd, 0)
for kind in ("user", "mnt", "pid", "net"): attempt("setns " + kind, lambda: join(kind))
""",
    ),
    _one(
        "mounts",
        r"""
libc.mount.argtypes = (ctypes.c_char_p,) * 3 + (ctypes.c_ulong, ctypes.c_char_p)
def mount(*args):
    if libc.mount(*args) < 0: raise OSError(ctypes.get_errno(), "mount")
attempt("tmpfs", lambda: mount(b"tmpfs", b"/usr", b"tmpfs", 0, b""))
attempt("remount", lambda: mount(b"none", b"/", None, 32, None))
attempt("proc", lambda: mount(b"proc", b"/tmp", b"proc", 0, None))
attempt("umount", lambda: call(number(166, 39), b"/proc", 2))
attempt("pivot_root", lambda: call(number(155, 41), b".", b"."))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("open_tree", lambda: call(428, -100, b"/", 1))
attempt("fsopen", lambda: call(430, b"tmpfs", 0))
""",
    ),
    _one(
        "becomes_root",
        r"""
attempt("setuid", lambda: os.setuid(0))
attempt("setresuid", lambda: os.setresuid(0, 0, 0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("capset", lambda: call(number(126, 91), (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xffffffff] * 6)))
if 0 in (os.getuid(), os.geteuid()): print("BREACH root", os.getuid())
status = open("/proc/self/status").read()
for line in status.splitlines():
    if line.startswith(("CapEff", "CapPrm", "CapInh", "CapAmb")) and int(line.split()[1], 16): print("BREACH", line)
if "NoNewPrivs:\t1" not in status: print("BREACH no_new_privs")
if "Seccomp:\t2" not in status: print("BREACH seccomp")
""",
    ),
    _one(
        "runs_set_user_id_programs",
        r"""
for command in (["su", "-c", "id"], ["sudo", "-n", "id"], ["newgrp"], ["mount", "-t", "tmpfs", "x", "/tmp"], ["passwd", "-S"]):
    try: done = subprocess.run(command, capture_output=True, timeout=5, stdin=subprocess.DEVNULL)
    except OSError: continue
    if b"uid=0" in done.stdout or (command[0] == "mount" and done.returncode == 0): print("BREACH", command, done.stdout)
""",
    ),
    _one(
        "calls_dangerous_system_calls",
        r"""
for name, x86, arm in (("bpf", 321, 280), ("perf_event_open", 298, 241), ("userfaultfd", 323, 282), ("keyctl", 250, 219), ("add_key", 248, 217),
        ("kexec_load", 246, 104), ("init_module", 175, 105), ("delete_module", 176, 106), ("reboot", 169, 142), ("swapon", 167, 224), ("acct", 163, 89),
        ("settimeofday", 164, 170), ("syslog", 103, 116), ("quotactl", 179, 60), ("open_by_handle_at", 304, 265), ("name_to_handle_at", 303, 264),
        ("sethostname", 170, 161), ("io_uring_setup", 425, 425), ("memfd_create", 319, 279), ("memfd_secret", 447, 447), ("fanotify_init", 300, 262),
        ("personality", 135, 92), ("kcmp", 312, 272), ("vmsplice", 278, 75), ("migrate_pages", 256, 238), ("process_madvise", 440, 440)):
    attempt(name, lambda: call(number(x86, arm), 0, 0, 0, 0, 0))
""",
    ),
    _one(
        "uses_the_32_bit_door",
        r"""
if X86:
    import mmap
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
    run = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    print("BREACH" if run() > 0 else "held", flush=True)
""",
        "exited",
        "crashed",
        "violation",
    ),
]

# The network
NETWORK = [
    _one(
        "connects_to_the_host",
        'attempt("tcp", lambda: socket.create_connection(("127.0.0.1", TCP_PORT), 2))\nattempt("tcp6", lambda: socket.create_connection(("::1", TCP_PORT), 2))',
    ),
    _one(
        "connects_to_an_abstract_socket",
        r"""
def connect():
    sock = socket.socket(socket.AF_UNIX); sock.connect("\0" + ABSTRACT_NAME); return sock
attempt("abstract", connect)
""",
    ),
    _one(
        "sends_datagrams",
        r"""
def send(family, kind, address):
    sock = socket.socket(family, kind); sock.sendto(b"x", address); return "sent"
attempt("udp", lambda: send(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", TCP_PORT)))
attempt("dns", lambda: send(socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53)))
attempt("lookup", lambda: socket.getaddrinfo("example.com", 80))
""",
    ),
    _one(
        "opens_odd_sockets",
        "for family, kind, protocol in ((16, 3, 0), (2, 3, 1), (17, 3, 0), (38, 5, 0), (40, 1, 0), (44, 3, 0)):\n    attempt(str(family), lambda: socket.socket(family, kind, protocol))",
    ),
    _one(
        "binds_the_pair_it_may_have",
        r"""
left, right = socket.socketpair()
attempt("bind", lambda: left.bind("\0proctor-hostile"))
attempt("inet pair", lambda: socket.socketpair(socket.AF_INET))
""",
    ),
]

# Limits
LIMITS = [
    _one("eats_memory", "kept = []\nwhile True: kept.append(bytearray(8 << 20))", "memory"),
    _one(
        "eats_memory_slowly_and_catches_it",
        "kept = []\nwhile True:\n    try: kept.append(bytearray(4 << 20))\n    except MemoryError: pass\n",
        "memory",
        "timeout",
        "cpu",
    ),
    _one(
        "eats_memory_in_many_processes",
        # What the processes share from before the fork is counted once: each is asked for what it has on top of that.
        r"""
def own(name):
    lines = open(f"/proc/{name}/status").read().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
shared = own("self")
for _ in range(10):
    if os.fork() == 0:
        kept = bytearray(48 << 20)
        for i in range(0, len(kept), 4096): kept[i] = 1
        time.sleep(20); os._exit(0)
time.sleep(3)
held = 0
for name in os.listdir("/proc"):
    if name.isdigit():
        try: held += max(0, own(name) - shared)
        except OSError: pass
if held > 320 << 10: print("BREACH", held)
""",
        "memory",
        "exited",
        "timeout",
        "crashed",
        "cpu",
        "processes",  # those of the program before may be dying still, and count
    ),
    _one(
        "eats_shared_memory",
        r"""
import mmap
def share():
    area = mmap.mmap(-1, 1 << 30)
    for offset in range(0, 1 << 30, 4096): area[offset] = 1
    return "1 GiB"
attempt("anonymous", share)
def sysv():
    ident = call(number(29, 194), 0, 1 << 30, 0o1666); return ident
attempt("sysv", sysv)
""",
        "exited",
        "memory",
    ),
    _one(
        "fills_the_disk",
        'number = 0\nwhile True:\n    with open(f"/tmp/{number}", "wb") as file: file.write(bytes(1 << 20))\n    number += 1\n',
        "disk",
        "memory",
    ),
    _one(
        "fills_shared_memory_folder",
        'number = 0\nwhile True:\n    with open(f"/dev/shm/{number}", "wb") as file: file.write(bytes(1 << 20))\n    number += 1\n',
        "disk",
        "memory",
        "exited",
    ),
    _one(
        "floods_inodes",
        'number = 0\nwhile True:\n    open(f"/tmp/{number}", "w").close(); number += 1\n    if number > 200_000: print("BREACH"); break\n',
        "disk",
        "memory",
        "timeout",
        "cpu",
    ),
    _one(
        "writes_a_huge_file",
        'with open("big", "wb") as file:\n    while True: file.write(bytes(1 << 20)); file.flush()\n',
        "file_size",
        "disk",
    ),
    _one("makes_a_sparse_giant", 'with open("big", "wb") as file: file.truncate(1 << 40)', "file_size", "exited"),
    _one("floods_stdout", 'while True: os.write(1, b"x" * 65536)', "output"),
    _one("floods_stderr", 'while True: os.write(2, b"x" * 65536)', "output"),
    _one("opens_every_file", 'kept = []\nwhile True: kept.append(open("/dev/null"))', "open_files"),
    _one("loops_for_ever", "while True: pass", "cpu", "timeout"),
    _one("sleeps_for_ever", "time.sleep(3600)", "timeout"),
    _one(
        "ignores_signals",
        "for n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: time.sleep(1)",
        "timeout",
    ),
    _one("stops_itself", "os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(3600)", "timeout"),
    _one(
        "raises_its_limits",
        r"""
import resource
for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
    soft, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        if which not in (resource.RLIMIT_AS, resource.RLIMIT_NPROC): print("BREACH unlimited", which)
        continue
    attempt(str(which), lambda: resource.setrlimit(which, (hard + 1, hard + 1)))
""",
    ),
    _one(
        "inflates_a_bomb",
        "import zlib\nbomb = zlib.compress(bytes(64 << 20), 9)\nkept = [zlib.decompress(bomb) for _ in range(100)]",
        "memory",
    ),
    _one(
        "hammers_refused_calls",
        "while True:\n    try: os.setuid(0)\n    except OSError: pass\n",
        "violation",
        "cpu",
        "timeout",
    ),
    _one(
        "overflows_the_stack",
        "sys.setrecursionlimit(10**9)\ndef f(): return f()\nclass A:\n    def __repr__(self): return repr([self])\nrepr(A())\nf()",
        "crashed",
        "memory",
        "exited",
        "cpu",
        "timeout",
    ),
    _one("reads_address_zero", "ctypes.string_at(0)", "crashed"),
]

# What is brought back
OUTPUTS = [
    _one(
        "leaves_links",
        'os.symlink("/etc/shadow", "link")\nos.symlink("/", "root")\nos.symlink("../../../../etc/passwd", "up")\nopen("good.txt", "w").write("good")\nos.link("good.txt", "twin.txt")\nopen("fine.txt", "w").write("fine")',
    ),
    _one(
        "leaves_odd_files",
        r"""
try: os.mkfifo("fifo")
except OSError: pass
deep = "."
for _ in range(40):
    deep += "/d"; os.mkdir(deep)
open("a\nb", "w").close()
open("x" * 255, "w").close()
open("fine.txt", "w").write("fine")
left = socket.socketpair()[0]
""",
    ),
    _one("leaves_too_much", 'for n in range(3000): open(f"f{n}", "w").close()'),
]

PROGRAMS = [*FILES, *PROCESSES, *PRIVILEGES, *NETWORK, *LIMITS, *OUTPUTS]
