"""Agent and supervisor as one message each: code travels, compiled, with the order that starts it.

No runner needs a folder of ours, and nothing is compiled again for every workspace.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping
from functools import cache
from importlib.util import MAGIC_NUMBER
from typing import Any, Literal

from proctor.sandboxes.cold import PACKAGE
from proctor.sandboxes.inside.frames import framed

Entry = Literal["agent", "workspace_supervisor"]
"""The module whose `main` is called."""
MODULES: dict[Entry, str] = {
    "agent": """__init__ confinement kernel agent agent_feeding agent_files agent_flows agent_frames agent_jobs
agent_loop agent_memory agent_notices agent_paths agent_processes agent_writes frames seccomp syscalls""",
    "workspace_supervisor": "__init__ cgroups frames kernel workspace_supervisor syscalls",
}

# Read by an interpreter that may be of another version: compiled code is used where it fits, the text elsewhere.
READER = """import marshal, os, struct
def take(count):
    parts = b''
    while len(parts) < count:
        part = os.read(0, count - len(parts))
        if not part: os._exit(1)
        parts += part
    return parts
bundle = marshal.loads(take(struct.unpack('>I', take(4))[0]))
exec(bundle['boot'], {'bundle': bundle})"""

_BOOT = """import importlib.util, marshal, sys
class Carried:
    is_ours = bundle['magic'] == importlib.util.MAGIC_NUMBER
    @staticmethod
    def find_spec(name, path=None, target=None):
        stem = name.partition('.')[2] or '__init__'
        if name.partition('.')[0] == 'inside' and stem in bundle['text']:
            return importlib.util.spec_from_loader(name, Carried, is_package=name == 'inside')
    @staticmethod
    def create_module(spec):
        return None
    @staticmethod
    def exec_module(module):
        stem = module.__name__.partition('.')[2] or '__init__'
        if Carried.is_ours:
            code = marshal.loads(bundle['code'][stem])
        else:
            code = compile(bundle['text'][stem], stem, 'exec')
        exec(code, module.__dict__)
sys.meta_path.insert(0, Carried)
import importlib
importlib.import_module('inside.' + bundle['entry']).main(bundle['config'])
"""
_PORTABLE = 2  # the newest format of `marshal` that every interpreter here and inside can read


@cache
def _modules(names: str) -> tuple[dict[str, str], dict[str, bytes]]:
    texts = {name: (PACKAGE / "inside" / f"{name}.py").read_text(encoding="utf-8") for name in names.split()}
    return texts, {name: marshal.dumps(compile(text, name, "exec")) for name, text in texts.items()}


def bundle(config: Mapping[str, Any], entry: Entry = "agent") -> bytes:
    """What the reader expects on its standard input before anything else."""
    texts, codes = _modules(MODULES[entry])
    content = {"magic": MAGIC_NUMBER, "text": texts, "code": codes, "boot": _BOOT, "entry": entry}
    content["config"] = json.dumps(config)
    return framed(marshal.dumps(content, _PORTABLE))


def start_command(python: str) -> list[str]:
    return [python, "-I", "-S", "-B", "-c", READER]
