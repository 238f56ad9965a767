"""The documentation as a site: built strictly, complete, searchable, and asking no other host for anything."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from docs.markdown import ROOT

SCRIPT = ROOT / "scripts" / "build_site.py"
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(https?:[^\" >]+)|<link\b[^>]*\bhref=\"?(https?:[^\" >]+)"
)


def build(script: Path, target: Path) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed: pip install zensical")
    command = [sys.executable, str(script), str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("docs") / "site"
    done = build(SCRIPT, target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout + done.stderr
    return target


def test_every_page_is_on_the_site_and_in_its_navigation(site: Path) -> None:
    front = unescape((site / "index.html").read_text())
    for page in sorted((ROOT / "docs").rglob("*.md")):
        address = page.relative_to(ROOT).with_suffix(".html").as_posix()
        assert (site / address).is_file(), address
        assert re.search(rf'href="(?:\./)?{re.escape(address)}"', front), address


def test_the_site_asks_no_other_host_for_anything(site: Path) -> None:
    foreign = {
        f"{path.relative_to(site)}: {found}"
        for path in site.rglob("*.html")
        for found in LOADED.findall(path.read_text())
    }
    assert not foreign
    styles = [path.read_text() for path in site.rglob("*.css")]
    assert styles
    assert not [one for text in styles for one in re.findall(r"(?:@import|url\()[\"' ]*https?:[^\"')]+", text)]


def test_the_site_can_be_searched(site: Path) -> None:
    index = json.dumps(json.loads((site / "search.json").read_text()), ensure_ascii=False)
    for words in ("McNemar", "TimescaleDB", "自分のベンチマーク"):
        assert words in index, words


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    for name in ("README.md", "README.ja.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    for folder in ("docs", "examples", "bench"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    with (tmp_path / "docs" / "tutorial.md").open("a") as page:
        page.write("\n[nowhere](how-to/nowhere.md)\n")
    done = build(tmp_path / "scripts" / "build_site.py", tmp_path / "site")
    assert done.returncode != 0
    assert "page does not exist" in re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    assert not (tmp_path / "site").exists()
