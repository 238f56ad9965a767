"""The folder that a program works in: made for one question, and looked at when the program has ended.

By then the program may have done anything to it: what is read is only what lies in the folder itself.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from proctor.domain.message import DocumentPart, Image, Prompt
from proctor.models.process import LimitExceededError

MAX_ANSWER_FILE_BYTES = 64 * 1024 * 1024
Stamps = Mapping[str, tuple[int, int]]
"""Size and time of files, by their path in the folder."""
LINK = -1
"""The size of a link, which is none."""


def prepare_folder(place: Path, workspace: str | None, prompt: Prompt, seed: Mapping[str, bytes]) -> Path:
    """The full path of a new folder with a copy of the workspace, the seed and what is attached to the prompt."""
    folder = place.resolve() / "work"
    if workspace is None:
        folder.mkdir()
    else:
        shutil.copytree(workspace, folder, symlinks=True)
    for name, content in seed.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    parts = [part for message in prompt.messages if not isinstance(message.content, str) for part in message.content]
    blobs = [part for part in parts if isinstance(part, (Image, DocumentPart))]
    for number, part in enumerate(blobs, start=1):
        (folder / f"attachment-{number}.{part.media_type.partition('/')[2]}").write_bytes(part.data)
    return folder


def stamps(folder: Path) -> Stamps:
    """Of every regular file and link, except in folders that may not be entered; links are not followed."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(root, name)
            with contextlib.suppress(PermissionError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                    size = status.st_size if stat.S_ISREG(status.st_mode) else LINK
                    found[path.relative_to(folder).as_posix()] = (size, status.st_mtime_ns)
    return dict(sorted(found.items()))


def changed(folder: Path, before: Stamps) -> tuple[dict[str, int], dict[str, str]]:
    """The size of each file that is new or changed; and what of that cannot be taken, as it can be shown, and why."""
    new = {name: stamp[0] for name, stamp in stamps(folder).items() if before.get(name) != stamp}
    links = {name: "it is a link" for name, size in new.items() if size == LINK}
    odd = {name: "its name cannot be shown" for name in new if not name.isprintable()}
    sizes = {name: size for name, size in new.items() if name not in links and name not in odd}
    return sizes, {_shown(name): why for name, why in {**links, **odd}.items()}


def _shown(name: str) -> str:
    """A path with whatever cannot be shown written out: a name is bytes, which need not be text."""
    plain = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in plain)


def is_in_its_place(path: Path) -> bool:
    """Whether this is what we made, a full path: a link there could lead to what the program was not to see."""
    return path.resolve() == path


def content(file: Path) -> bytes:
    """What a file holds, whatever its permissions; PermissionError where it is not even ours."""
    try:
        return file.read_bytes()
    except PermissionError:
        file.chmod(0o600)
        return file.read_bytes()


def written(answer_file: Path) -> bytes | None:
    """What the program wrote there, None when it did not; LimitExceededError when it is too large."""
    if not (answer_file.is_file() and is_in_its_place(answer_file)):
        return None
    if answer_file.stat().st_size > MAX_ANSWER_FILE_BYTES:
        raise LimitExceededError(f"wrote more than {MAX_ANSWER_FILE_BYTES // 2**20} MB")
    return content(answer_file)
