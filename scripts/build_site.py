"""Builds the documentation as a site that needs no network: `python scripts/build_site.py [FOLDER]`, by default site/.

Zensical (`pip install zensical`) makes the pages, strictly: a link that leads nowhere fails the build. What is staged
has the layout of the project, so that links mean the same on the site, in an editor and in a repository's browser.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOP = ("README.md", "README.ja.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE")
FOLDERS = ("docs", "examples", "bench")
KINDS = (".md", ".png", ".svg", ".ipynb")
SECTIONS = {
    "How to": "docs/how-to",
    "Operations": "docs/operations",
    "Reference": "docs/reference",
    "Decisions": "docs/decisions",
    "日本語": "docs/ja",
}
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
CONFIG = """
[project]
site_name = "Proctor"
site_description = "Which AI model is better at your work, by how much, at what cost, and how sure that is"
docs_dir = "pages"
site_dir = "built"
use_directory_urls = false
nav = {nav}

[project.theme]
language = "en"
font = false
features = ["content.code.copy", "navigation.sections", "navigation.top", "navigation.path", "search.highlight"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"

[project.markdown_extensions]
tables = {{}}
attr_list = {{}}
toc.permalink = true
toc.slugify = {{ object = "pymdownx.slugs.slugify", kwds = {{ case = "lower" }} }}
pymdownx.highlight.anchor_linenums = false
pymdownx.superfences = {{}}
"""


def stage(pages: Path) -> None:
    """Copy everything that is read, in the project's layout."""
    for name in TOP:
        if (ROOT / name).is_file():
            copy(ROOT / name, pages / name)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in KINDS and path.is_file():
                copy(path, pages / path.relative_to(ROOT))
    # The front page of the site is the readme; the readme is linked by its own name, too.
    copy(ROOT / "README.md", pages / "index.md")


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def navigation(pages: Path) -> list[dict[str, object]]:
    """Every page of docs/, in the order of the index."""
    listed: list[dict[str, object]] = [
        {"Proctor": "index.md"},
        {"Documentation": "docs/index.md"},
        {"Tutorial": "docs/tutorial.md"},
        {"Architecture": "docs/architecture.md"},
        {"Compared with others": "docs/compared.md"},
    ]
    for title, folder in SECTIONS.items():
        found = sorted((pages / folder).glob("*.md"))
        if title == "日本語":
            found = [pages / "README.ja.md", *found]
        listed.append({title: [{title_of(page): page.relative_to(pages).as_posix()} for page in found]})
    listed.append({"Project": [{"Contributing": "CONTRIBUTING.md"}, {"Changes": "CHANGELOG.md"}]})
    return listed


def title_of(page: Path) -> str:
    found = TITLE.search(page.read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{page.name} has no title.")
    return found[1].replace("`", "")


def toml(value: object) -> str:
    """Lists and tables as TOML has them inline."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return (
            f"{{ {', '.join(f'{json.dumps(name, ensure_ascii=False)} = {toml(one)}' for name, one in value.items())} }}"
        )
    return json.dumps(value, ensure_ascii=False)


def build(target: Path) -> int:
    """Build strictly and put the site into `target`; gives zensical's exit code."""
    program = Path(sys.executable).with_name("zensical")
    if not program.exists():
        print("zensical is not installed: pip install zensical", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        stage(work / "pages")
        (work / "zensical.toml").write_text(CONFIG.format(nav=toml(navigation(work / "pages"))), encoding="utf-8")
        done = subprocess.run([str(program), "build", "--strict"], cwd=work, check=False)
        if done.returncode == 0:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(work / "built", target)
    return done.returncode


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site").absolute()))
