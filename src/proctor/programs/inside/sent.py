"""How the modules of this package get into a workspace: as text, in a command."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_LOADER = """
import json, sys, types
package = types.ModuleType("inside")
package.__path__ = []
sys.modules["inside"] = package
for name, text in json.loads(sys.argv[1]):
    module = types.ModuleType("inside." + name)
    module.__package__ = "inside"
    sys.modules["inside." + name] = module
    exec(compile(text, "<" + name + ">", "exec"), vars(module))
target, arguments = sys.argv[2], sys.argv[3:]
sys.argv = sys.argv[:1]
name, function = target.split(":")
getattr(sys.modules["inside." + name], function)(*arguments)
"""
_NEEDS = {"serving": ("values", "peer", "profiled", "serving"), "profiled": ("profiled",)}


@cache
def _sources(module: str) -> str:
    folder = Path(__file__).parent
    names = _NEEDS.get(module, (module,))
    return json.dumps([[name, (folder / f"{name}.py").read_text(encoding="utf-8")] for name in names])


def command(target: str, *arguments: str) -> tuple[str, ...]:
    """A command for a workspace's Python that calls `module:function` of this package with these texts."""
    return ("python3", "-P", "-c", _LOADER, _sources(target.partition(":")[0]), target, *arguments)
