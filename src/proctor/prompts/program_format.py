"""How a model is told to write the files of a program."""

from __future__ import annotations

from collections.abc import Sequence

_LANGUAGES = {"py": "python", "js": "javascript"}


def answer_format(entries: Sequence[str]) -> str:
    """The part of a prompt that says how to answer; `entries` are the files a program may be started by."""
    first = entries[0]
    language = _LANGUAGES.get(first.rpartition(".")[2], "")
    return f"""\
Give every file of the program in full, each in a fenced block of its own whose first line names its path:

```{language} {first}
…the whole file…
```

- Paths are relative to the program's folder: `{first}`, not `/app/{first}` or `../{first}`.
- {_wanted(entries)}
- A file that itself contains ``` is fenced with four backticks.
- Text outside the blocks is not read; blocks without a path are not part of the program."""


def _wanted(entries: Sequence[str]) -> str:
    if len(entries) == 1:
        return f"The program is started by `{entries[0]}`, which must be there."
    return f"One of {' or '.join(f'`{name}`' for name in entries)} must be there: the program is started by it."
