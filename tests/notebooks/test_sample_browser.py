"""The browser of samples: what it shows, what becomes of a comment, and how hostile texts look in a real browser."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import proctor
from commands import Cli
from proctor.domain.errors import PlanError
from proctor.library import browsing

SOURCE = Path(browsing.__file__).with_name("sample_browser.js")
HOSTILE = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
PAGE = """<!doctype html><meta charset=utf-8><div id=here></div><pre id=seen></pre><script type=module>
%(widget)s
const values = %(values)s;
const sent = [];
const listeners = {};
const model = {
  get: (name) => values[name],
  on: (name, call) => { (listeners[name] ??= []).push(call); },
  off: () => {},
  send: (message) => {
    sent.push(message);
    const said = { result_id: message.result_id, text: message.comment };
    values.comments = [{ ...said, author: 'local', created_at: '2026-11-19T04:00:00' }];
    listeners['change:comments'].forEach((call) => call());
  },
};
const el = document.getElementById('here');
widget.render({ model, el });
const all = el.querySelectorAll('.proctor-row').length;
const search = el.querySelector('input');
search.value = 'SECOND';
search.dispatchEvent(new Event('input'));
const left = el.querySelectorAll('.proctor-row').length;
el.querySelector('textarea').value = 'look at this';
el.querySelector('.proctor-send').click();
const text = (name) => el.querySelector(name).textContent;
const seen = {
  all, left, sent, title: document.title, about: text('.proctor-about'), comment: text('.proctor-comment'),
  images: el.querySelectorAll('img, script').length,
  answer: [...el.querySelectorAll('pre')].map((one) => one.textContent),
};
document.getElementById('seen').textContent = JSON.stringify(seen);
</script>"""


def widget(*given: Any, **options: Any) -> Any:
    pytest.importorskip("anywidget")
    return proctor.browse(*given, **options)


@pytest.fixture
def run(home: Path) -> proctor.Run:
    return proctor.evaluate("puzzles", models="demo/weak", limit=20, seed=1)


def test_it_shows_samples_and_keeps_comments_on_the_run(run: proctor.Run, cli: Cli) -> None:
    shown = widget(run, wrong=True)
    wrong = [row for row in run.results() if row.scores["puzzle"].value != 1]
    assert [one["sample_id"] for one in shown.samples] == [row.sample_id for row in wrong]
    assert shown.samples[0]["response"] == wrong[0].response
    shown.comment({"comment": "  off by one \u202e", "result_id": shown.samples[0]["result_id"]})
    assert shown.notice == ""
    [kept] = widget(run.id).comments
    assert (kept["text"], kept["author"]) == ("off by one \ufffd", "local")
    assert kept["result_id"] == shown.samples[0]["result_id"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"comment": "  "}, "An empty comment is not kept."),
        ({"comment": 7}, "An empty comment is not kept."),
        ({"comment": "x" * 20_001}, "A comment has at most 20,000 characters, not 20,001."),
        ({"comment": "x", "result_id": "1 OR 1"}, "There is no such sample."),
        ({"comment": "x", "result_id": "999999"}, "has no result 999999."),
    ],
)
def test_what_is_no_comment_is_not_kept(run: proctor.Run, message: dict[str, Any], said: str) -> None:
    shown = widget(run)
    shown.comment(message)
    assert said in shown.notice
    assert shown.comments == []


def test_only_so_many_samples_are_shown(run: proctor.Run) -> None:
    assert len(widget(limit=3).samples) == 3
    with pytest.raises(PlanError, match="limit is at least 1"):
        widget(limit=0)


def test_a_widget_that_is_not_installed_is_said(run: proctor.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "proctor.library.sample_widget", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'proctor\[notebook\]'"):
        proctor.browse(run)


def test_texts_of_others_stay_texts_in_a_browser(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    sample = {
        "result_id": "7",
        "sample_id": "first",
        "model": HOSTILE,
        "benchmark": "b",
        "category": None,
        "outcome": "scored",
    }
    sample |= {"input": HOSTILE, "target": HOSTILE, "response": HOSTILE, "error": None}
    sample |= {"scores": [{"name": HOSTILE, "value": 0.5, "answer": None, "reason": HOSTILE}]}
    values = {
        "run_id": "1nf",
        "samples": [sample, {**sample, "result_id": "8", "sample_id": "second"}],
        "comments": [],
        "notice": "",
    }
    code = SOURCE.read_text().replace("export default", "const widget =")
    text = json.dumps(values).replace("</", "<\\/")
    (tmp_path / "page.html").write_text(PAGE % {"widget": code, "values": text}, encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:  # a browser's socket has a path of at most a hundred letters
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={place}/profile", "--dump-dom"]
        done = subprocess.run(
            [chromium, *flags, (tmp_path / "page.html").as_uri()],
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": place, "TMPDIR": place, "PATH": "/usr/bin:/bin"},
        )
    dom = done.stdout
    seen = json.loads(unescape(dom.partition('<pre id="seen">')[2].partition("</pre>")[0]))
    assert (seen["all"], seen["left"], seen["images"], seen["title"]) == (2, 1, 0, "")
    assert seen["sent"] == [{"comment": "look at this", "result_id": "8"}]
    assert seen["answer"].count(HOSTILE) == 4
    assert "look at this" in seen["comment"]
    assert seen["about"].startswith(HOSTILE)
