"""How modules of ours get into a workspace: as text, in a command."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_LOADER = """
import json, sys, types
def make(name, text=""):
    if name in sys.modules:
        return
    parent = name.rpartition(".")[0]
    if parent:
        make(parent)
    module = sys.modules[name] = types.ModuleType(name)
    if text:
        module.__package__ = parent
        exec(compile(text, "<" + name + ">", "exec"), vars(module))
    else:
        module.__path__ = []
for name, text in json.loads(sys.argv[1]):
    make(name, text)
name, function = sys.argv[2].split(":")
arguments = sys.argv[3:]
sys.argv = sys.argv[:1]
getattr(sys.modules[name], function)(*arguments)
"""
_HERE = __package__
_SHARED = tuple(f"proctor.sandboxes.inside.{name}" for name in ("frames", "packing", "codec", "objects"))
_NEEDS = {"serving": (*_SHARED, f"{_HERE}.peer", f"{_HERE}.profiled")}
"""What a module imports of ours, in an order in which each finds what it needs."""
_SOURCES = Path(__file__).parents[3]


@cache
def _texts(module: str) -> str:
    names = (*_NEEDS.get(module, ()), f"{_HERE}.{module}")
    texts = [(_SOURCES / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8") for name in names]
    return json.dumps(list(zip(names, texts, strict=True)))


def command(target: str, *arguments: str) -> tuple[str, ...]:
    """A command for a workspace's Python that calls `module:function` of this package with these texts."""
    module = target.partition(":")[0]
    return ("python3", "-P", "-c", _LOADER, _texts(module), f"{_HERE}.{target}", *arguments)
