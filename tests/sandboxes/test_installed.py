"""Proctor installed into the machine's own interpreter, as in a container image: no sandbox shows what is ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.sandboxes import firejail, nsjail, system
from sandboxes.presence import skip_unless_installed

PACKAGE = Path(proctor.__file__).parent
KEY = "sk-of-the-operator-5e1f"
SPARE = shutil.ignore_patterns("test", "tests", "idlelib", "site-packages", "dist-packages", "config-*", "__pycache__")
# In a mount namespace that ends with it: the machine's own folders are what they were.
SCRIPT = """
set -e
mount --make-rprivate /
mount --bind "$1/local" /usr/local
ldconfig -C "$1/ld.so.cache" && mount --bind "$1/ld.so.cache" /etc/ld.so.cache
cp /etc/passwd "$1/passwd" && echo "proctor-sandbox:x:61999:61999::/mnt/home:/bin/sh" >> "$1/passwd"
mount -t tmpfs none /mnt && mkdir -m 700 /mnt/home && chown 61999:61999 /mnt/home
mount --bind "$1/passwd" /etc/passwd
site=$(/usr/local/bin/python3 -c 'import site; print(*site.getsitepackages(), sep="\\n")' | grep -m1 /usr/local/lib/)
mkdir -p "$site" && cp -r "$2" "$site/proctor" && echo "$3" > "$site/needed.pth"
cd "$HOME" && exec /usr/local/bin/python3 "$4" "$1/wanted.json"
"""


def copy_interpreter(target: Path) -> None:
    """This interpreter and its standard library, below another prefix."""
    standard = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix}))
    shutil.copytree(standard.resolve(), target / "lib" / standard.name, ignore=SPARE, ignore_dangling_symlinks=True)
    for library in (Path(sys.base_prefix) / "lib").glob("libpython*.so*"):
        shutil.copy2(library, target / "lib")
    (target / "bin").mkdir()
    python = Path(os.path.realpath(sys.executable))
    shutil.copy2(python, target / "bin" / python.name)
    (target / "bin" / "python3").symlink_to(python.name)


def plant_home(target: Path) -> Path:
    """A home in the worst place there is: among what a sandbox must show."""
    home = target / "lib" / "operator"
    home.mkdir()
    (home / "key").write_text(KEY)
    (home / ".proctor").mkdir()
    (home / ".proctor" / "settings").write_text(f"OPENAI_API_KEY={KEY}")
    return home


def secrets(home: Path) -> list[Path]:
    problems = PACKAGE / "catalog" / "problems"
    hidden = [path for name in ("solution", "tests", "mutants") for path in problems.glob(f"*/{name}/**/*")]
    ours = [path for path in (*hidden, *home.rglob("*")) if path.is_file() and path.stat().st_size > 30]
    return [path for path in ours if "__pycache__" not in path.parts]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount another interpreter over /usr/local")
    folder = tmp_path_factory.mktemp("installed")
    folder.chmod(0o755)
    local = folder / "local"
    copy_interpreter(local)
    home = plant_home(local)
    wanted: dict[str, list[str]] = defaultdict(list)
    for path in secrets(home):
        wanted[str(path.stat().st_size)].append(sha256(path.read_bytes()).hexdigest())
    assert sum(map(len, wanted.values())) > 100
    (folder / "wanted.json").write_text(json.dumps([wanted, [KEY]]))
    needed = sysconfig.get_path("purelib")
    prober = Path(__file__).parent / "prober.py"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", SCRIPT, "sh", str(folder), str(PACKAGE), needed, str(prober)],
        capture_output=True,
        check=False,
        timeout=900,
        env={"PATH": os.environ["PATH"], "HOME": "/usr/local/lib/operator", "OPENAI_API_KEY": KEY},
    )
    assert done.returncode == 0, done.stderr.decode()
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("where", ["in_backend none", "in_place none"])
def test_without_a_sandbox_everything_is_found(found: dict[str, Any], where: str) -> None:
    """The positive control: what is looked for is there, and the search finds it."""
    assert found[where]["prefix"] == "/usr/local"
    assert found[where]["count"] > 100
    assert any("/proctor/catalog/problems/" in path for path in found[where]["seen"])


@pytest.mark.parametrize(
    "where",
    [f"in_backend {name}" for name in ("namespaces", "bubblewrap", "nsjail", "firejail")] + ["in_place bubblewrap"],
)
def test_no_gold_hidden_test_home_or_key_is_seen_when_proctor_is_installed_system_wide(
    found: dict[str, Any], where: str
) -> None:
    skip_unless_installed(where.split()[1])
    assert "absent" not in found[where], found[where]
    assert "failed" not in found[where], found[where]
    assert found[where]["seen"] == []
    assert found[where]["files"] > 1_000  # it could look around
    assert found[where]["prefix"] == "/usr/local"  # with the very interpreter that Proctor is installed into


def test_every_folder_of_installed_packages_is_seen_empty() -> None:
    shown = system.shown(Path(os.path.realpath(sys.executable)))
    for folder in (target for _, target in shown.binds):
        for packages in Path(folder).glob("*/*-packages"):
            assert packages.is_symlink() or str(packages) in shown.covered
    assert all(any(path.startswith(f"{target}/") for _, target in shown.binds) for path in shown.covered)


def test_an_interpreter_where_a_sandbox_has_its_own_folder_is_refused(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python3"
    assert system.is_replaced(Path("/tmp/python/bin/python3"))
    assert system.is_replaced(python) == str(tmp_path).startswith(system.REPLACED)
    with pytest.raises(system.SandboxError, match="install Python elsewhere"):
        system.shown(Path("/tmp/python/bin/python3"))


def test_tools_that_are_not_on_this_machine_are_told_to_cover_the_same_folders() -> None:
    python = Path("/usr/bin/python3")
    covered = system.shown(python).covered
    assert covered
    mounts, hidden = nsjail.mounts(python), firejail.hidden(python)
    for path in covered:
        assert any(part.startswith(f"none:{path}:tmpfs:") for part in mounts)
        assert f"--blacklist={path}" in hidden
    assert "--blacklist=/usr/src" in hidden or not Path("/usr/src").is_dir()
    assert not any(part.startswith("--blacklist=/usr/bin") for part in hidden)
