"""A benchmark drafted from a document in a real browser, with a provider that errs."""

from __future__ import annotations

from pathlib import Path

from benchmarks.test_draft_benchmark import TEXT, reply
from dashboard.conftest import Browser
from fakes.provider import FakeProvider
from server.serving import serving


def test_a_benchmark_is_drafted_reviewed_by_keys_and_kept(browser: Browser, tmp_path: Path) -> None:
    document = tmp_path / "keys.md"
    document.write_text(TEXT)
    with FakeProvider(reply=reply) as provider, serving(tmp_path / "home", tmp_path) as server:
        models = {name: f"openai/{name}?base_url={provider.url}/v1" for name in ("writer", "checker")}
        seen = browser.go("draftBenchmark", server, document=str(document), models=models)
        [kept] = server.get("/api/v1/own-benchmarks/keys")["versions"]
    assert seen["progress"] == "1 of 6 samples accepted"
    assert seen["facts"].startswith("6 of 6 passages · 12 requests · ")
    assert seen["empty"] == seen["found"] == []
    assert "Who keeps the key of tower 10" in seen["sample"]
    assert seen["evidence"] == "Ada"
    assert seen["gap"] not in ("normal", "0px"), "a sample looks as in the review, whose styles are here as well"
    assert seen["discarded"].startswith("The draft of keys.md was discarded.")
    assert seen["writer"] == models["writer"], "whoever begins again types nothing twice"
    assert len(seen["refused"]) == 5
    assert any(one.startswith("the answer is not in the passage") for one in seen["refused"])
    assert (seen["isOff"], seen["title"]) == (True, "keys")
    assert kept["description"]["samples"] == 1
