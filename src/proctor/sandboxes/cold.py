"""What backends that start another tool share: who runs the code, with which interpreter, from where."""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import sys
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from proctor.domain.errors import SandboxError
from proctor.sandboxes.namespaces import ENVIRONMENT
from proctor.sandboxes.pool import SandboxPool
from proctor.sandboxes.system import is_replaced

PACKAGE = Path(__file__).parent
_INSIDE = """__init__ tool_init children confinement seccomp kernel syscalls frames codec packing candidate judge remote
collecting script forking container_init names objects showing"""
_BOOTSTRAP = """import base64, importlib.abc, importlib.util, json, sys, zlib
class Carried(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    texts = json.loads(zlib.decompress(base64.b64decode('{packed}')))
    def find_spec(self, name, path, target=None):
        stem = name.partition('.')[2] or '__init__'
        if name.partition('.')[0] == 'inside' and stem in self.texts:
            return importlib.util.spec_from_loader(name, self, is_package=name == 'inside')
    def get_source(self, name):
        return self.texts[name.partition('.')[2] or '__init__']
    def is_package(self, name):
        return name == 'inside'
sys.meta_path.insert(0, Carried())
"""


def tool(name: str) -> str:
    """The tool's path; a SandboxError when it is not installed."""
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")
    if found is None:
        raise SandboxError(
            f"{name} is not installed. Install it, or choose another sandbox; 'proctor doctor --sandbox' lists them."
        )
    return found


def is_open_to_all(path: Path) -> bool:
    """Whether any user can get there: a run's own user has no rights but those."""
    resolved = path.resolve()
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in [resolved, *resolved.parents] if parent.is_dir())


def interpreter() -> Path:
    """This interpreter where a run's user can reach it and a sandbox can show it, else the system's."""
    for candidate in (Path(os.path.realpath(sys.executable)), Path("/usr/bin/python3")):
        is_reached = candidate.exists() and (os.geteuid() != 0 or is_open_to_all(candidate.parent))
        if is_reached and not is_replaced(candidate):
            return candidate
    raise SandboxError("No Python interpreter that an unprivileged user can reach: install python3 in /usr/bin.")


def drop_privileges() -> list[str]:
    """The command that gives up root for a slot's own user; nothing where we are not root."""
    if os.geteuid() != 0:
        return []
    return [
        tool("setpriv"),
        "--reuid",
        "{uid}",
        "--regid",
        "{uid}",
        "--clear-groups",
        "--no-new-privs",
        "--inh-caps=-all",
    ]


def sized_folder(at: str) -> list[str]:
    """The command that gives a run a folder of its size and with few files, in a mount namespace that ends with it."""
    mount = f"mount -t tmpfs -o size={{disk}},nr_inodes=8192,mode=1777,nosuid,nodev proctor {at}"
    return [tool("unshare"), "--mount", "--propagation", "private", tool("sh"), "-c", f'{mount} && exec "$@"', "sh"]


@cache
def bootstrap() -> str:
    """Python text that carries the code for the inside with it, for tools that cannot show a folder of ours."""
    sources = {
        name: (PACKAGE / "inside" / f"{name}.py").read_text(encoding="utf-8") for name in sorted(_INSIDE.split())
    }
    packed = base64.b64encode(zlib.compress(json.dumps(sources).encode(), 9)).decode()
    return _BOOTSTRAP.format(packed=packed)


def cold_pool(
    name: str,
    prefix: Iterable[str],
    *,
    python: Path | str,
    inside: str,
    parallel: int | None = None,
    is_isolated: bool = True,
    **options: Any,
) -> SandboxPool:
    config = {
        "prefix": list(prefix),
        "python": str(python),
        "inside": inside,
        "environment": ENVIRONMENT,
        "is_using_cgroups": True,
        "is_notifying": True,
        "is_filtered": True,
        **options,
    }
    return SandboxPool(name, config, python=str(python), parallel=parallel, is_isolated=is_isolated)
