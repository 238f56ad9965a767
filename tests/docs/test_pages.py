"""Generated pages are up to date, links lead somewhere, and nothing of one machine is in the documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.markdown import ROOT, blocks, documents, name_of
from docs.pages import GENERATED
from proctor.benchmarks.schema import Fields
from proctor.cli.main import COMMANDS
from proctor.domain.plan import Limits, Plan, Sampling

PAGES = ("files-and-environment", "plan-file", "benchmark-file")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:work|tmp/\w+|root|home/(?!you\b)\w+|Users|opt|mnt)(?:/|\b)")
OTHER_HOSTS = re.compile(r"https?://([\w.-]+)")
KNOWN_HOSTS = re.compile(
    r"^(127\.0\.0\.1|192\.0\.2\.\d+|accounts\.google\.com|localhost|\[::1\]|keepachangelog\.com|semver\.org|modelcontextprotocol\.io|www\.w3\.org|arxiv\.org|doi\.org|duckdb\.org|github\.com"
    r"|(.+\.)?(openai\.com|anthropic\.com|googleapis\.com|openrouter\.ai|huggingface\.co)|.+\.(invalid|example)"
    r"|(.+\.)?example\.(com|org))$"
)


def anchors(text: str) -> set[str]:
    """The anchors GitHub gives a page's headings."""
    titles = HEADING.findall(FENCED.sub("", text))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", list(GENERATED), ids=name_of)
def test_a_generated_page_is_up_to_date(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == GENERATED[page](), "run scripts/refresh-docs"


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = FENCED.sub("", document.read_text(encoding="utf-8"))
    lost = []
    for link in LINK.findall(text):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            lost.append(link)
    assert not lost


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_every_table_has_a_head(document: Path) -> None:
    """Rows behind an empty line are shown as they are written."""
    lines = FENCED.sub("", document.read_text(encoding="utf-8")).splitlines()
    tables = [(first, second) for before, first, second in zip(["", *lines], lines, [*lines[1:], ""], strict=False)
              if first.startswith("|") and not before.startswith("|")]  # fmt: skip
    assert not [first for first, second in tables if not re.fullmatch(r"\|[-| :]+\|", second)]


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_nothing_of_one_machine_is_in_a_document(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert not MACHINE_PATH.findall(text)
    assert not [host for host in OTHER_HOSTS.findall(text) if not KNOWN_HOSTS.match(host)]


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_documents_use_the_usual_words(document: Path) -> None:
    assert "in the place of" not in document.read_text(encoding="utf-8"), "write 'instead of'"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, to_read = set(), [ROOT / "README.md"]
    while to_read:
        page = to_read.pop()
        if page in reached or not page.is_file():
            continue
        reached.add(page)
        if page.suffix == ".md":
            links = (link.partition("#")[0] for link in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))))
            to_read += [(page.parent / link).resolve() for link in links if link and "://" not in link]
    pages = set((ROOT / "docs").rglob("*.md"))
    assert not [name_of(page) for page in pages - reached], "run scripts/refresh-docs"


def test_what_the_readme_calls_missing_is_missing() -> None:
    missing = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Not there yet")[2]
    assert missing
    named = re.findall(r"`proctor (\w+)`", missing)
    assert not [name for name in named if name in COMMANDS], "it is there now: say so in the README"


def test_every_command_is_mentioned_outside_the_reference() -> None:
    """A command that no tutorial, how-to or other page ever uses is one nobody finds."""
    prose = "".join(page.read_text(encoding="utf-8") for page in documents() if page.name != "cli.md")
    assert not [name for name in COMMANDS if f"proctor {name}" not in prose]


def test_json_and_yaml_in_documents_can_be_read() -> None:
    import orjson
    import yaml

    read = []
    for document in documents():
        for block in blocks(document.read_text(encoding="utf-8")):
            if block.language == "yaml":
                read.append(yaml.safe_load(block.text))
            if block.language == "json" and "…" not in block.text:
                is_lines = block.marks.get("file", "").endswith(".jsonl")
                read += [orjson.loads(text) for text in (block.lines if is_lines else [block.text])]
    assert read
    assert all(isinstance(value, dict | list) for value in read), "a lone word is neither plan nor result"


def test_the_references_name_every_setting_and_every_field() -> None:
    """What the program reads, the reference explains."""
    reference = {name: (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}
    settings = (ROOT / "src" / "proctor" / "settings.py").read_text(encoding="utf-8")
    variables = set(re.findall(r"PROCTOR_[A-Z_]+", settings))
    fields = {*Plan.__struct_fields__, *Limits.__struct_fields__, *Sampling.__struct_fields__}
    assert variables
    assert not [name for name in variables if f"`{name}`" not in reference["files-and-environment"]]
    assert not [name for name in fields if f"`{name}`" not in reference["plan-file"]]
    assert not [name for name in Fields.__struct_fields__ if f"`{name}`" not in reference["benchmark-file"]]
