"""Benchmarks drafted from a document: nothing unchecked is used, nothing decided is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider
from proctor.benchmarks.document_text import passages_of, read_document
from proctor.runs.benchmarks.draft import decide, read_drafts
from proctor.runs.benchmarks.draft_kinds import (
    KINDS,
    MAX_ANSWER_LENGTH,
    MAX_QUESTION_LENGTH,
    WrittenSample,
    ask_with,
    is_answered,
    refused_by_rules,
    written_in,
)
from proctor.runs.benchmarks.draft_passages import REPLY_ROOM

NAMES = ("Ada", "Bela", "Cleo", "Dora", "Egon", "Fritz")
TEXT = "\n\n".join(f"{name} keeps the key of tower {10 + at}. " + f"Nobody else may enter tower {10 + at}. " * 30
                   for at, name in enumerate(NAMES))  # fmt: skip


def reply(ask: Ask) -> Reply:
    """A writer that errs in a different way for each passage, and a checker that reads, and knows of Egon by heart."""
    found = re.search(r"(\w+) keeps the key of tower (\d+)", ask.text)
    if ask.model == "writer":
        assert found is not None
        name, tower = found[1], found[2]
        said = {
            "Bela": {"question": f"Who keeps the key of tower {tower}?", "answer": "Zacharias"},
            "Cleo": {"question": "Cleo keeps a key: who does?", "answer": "Cleo"},
            "Dora": "I will not.",
        }.get(name, {"question": f"Who keeps the key of tower {tower}, please say?", "answer": name})
        return Reply(said if isinstance(said, str) else f"Here: {json.dumps(said)}")
    if "Passage:" in ask.text:
        return Reply("unknown" if found is None or found[1] == "Fritz" else f"It is {found[1]}.")
    return Reply("Egon" if "tower 14" in ask.text else "unknown")


def test_each_draft_is_checked_and_only_accepted_ones_are_asked(cli: Cli) -> None:
    Path("notes.md").write_text(TEXT)
    with FakeProvider(reply=reply) as provider:
        models = [f"openai/{name}?base_url={provider.url}/v1" for name in ("writer", "checker")]
        arguments = ("benchmarks", "draft", "notes.md", "--n", "6", "--writer", models[0], "--checker", models[1])
        document = cli(*arguments, "--pilot", models[1], "--json").json
        again = cli(*arguments, "--json").json
    assert document["accepted"] == 1
    assert set(document["refused"]) == {
        "the answer is not in the passage",
        "the question gives the answer away",
        "the writer gave no question with an answer",
        "a second model does not answer it with the passage",
        "a second model answers it without the passage",
    }
    assert again["requests"] == 0
    (row,) = [json.loads(line) for line in Path("notes.jsonl").read_text().splitlines()]
    assert (row["answer"], "Ada keeps" in row["passage"]) == ("Ada", True)
    drafts = read_drafts(Path("notes.drafts.jsonl"))
    assert [one.difficulty for one in drafts if one.verdict == "accepted"] == [0]
    assert cli("benchmarks", "check", "notes.yaml").code == 0
    dry = cli("run", "notes.yaml", "-m", "demo/strong", "--dry-run", "--json").json
    assert dry["trials"] == 1
    for same in (models[0], f"{models[0]}&temperature=0.7"):
        assert "another one than the writer" in cli(*arguments[:-1], same).error


def test_a_decision_is_kept_at_once_and_a_dropped_sample_is_asked_no_more(cli: Cli) -> None:
    Path("notes.txt").write_text(TEXT)
    with FakeProvider(reply=reply) as provider:
        models = [f"openai/{name}?base_url={provider.url}/v1" for name in ("writer", "checker")]
        cli("benchmarks", "draft", "notes.txt", "--n", "1", "--writer", models[0], "--checker", models[1])
    (sample,) = [one for one in read_drafts(Path("notes.drafts.jsonl")) if one.verdict == "accepted"]
    decide(Path("notes.yaml"), sample.id, "dropped")
    assert Path("notes.jsonl").read_text() == ""
    decide(Path("notes.yaml"), sample.id, "kept")
    assert len(Path("notes.jsonl").read_text().splitlines()) == 1
    assert "1 kept, 0 dropped, 0 not reviewed yet" in cli("benchmarks", "review", "notes.yaml").out


def test_what_others_wrote_is_not_written_over_and_nothing_is_asked_first(cli: Cli) -> None:
    Path("notes.txt").write_text(TEXT)
    Path("notes.jsonl").write_text("mine")
    with FakeProvider(reply=reply) as provider:
        models = [f"openai/{name}?base_url={provider.url}/v1" for name in ("writer", "checker")]
        arguments = ("benchmarks", "draft", "notes.txt", "--n", "1", "--writer", models[0], "--checker", models[1])
        taken, lost = cli(*arguments), cli(*arguments, "-o", "nowhere/x.yaml")
        assert provider.requests == []
        odd = cli(*arguments, "-o", "a: b #1.yaml")
    assert (taken.code, "notes.jsonl is there" in taken.error) == (2, True)
    assert (lost.code, "There is no folder nowhere" in lost.error) == (2, True)
    assert Path("notes.jsonl").read_text() == "mine"
    assert odd.code == 0, odd.err
    assert "a: b #1" in Path("a: b #1.yaml").read_text().splitlines()[0]


def test_a_writer_that_writes_half_a_character_or_endless_brackets_ends_nothing() -> None:
    sample = written_in(KINDS["qa"], '{"question": "Who\\ud800?", "answer": "Ada"}')
    assert (sample.question, sample.answer) == ("Who??", "Ada")
    assert written_in(KINDS["qa"], '{"a": ' + "[" * 100_000 + "}") == WrittenSample()


def test_choices_and_statements_are_drafted_checked_reviewed_and_run(cli: Cli) -> None:
    Path("notes.md").write_text(TEXT)
    for kind in ("choice", "true-false"):
        with FakeProvider(reply=reply_of(kind)) as provider:
            models = [f"openai/{name}?base_url={provider.url}/v1" for name in ("writer", "checker")]
            arguments = ("benchmarks", "draft", "notes.md", "--kind", kind, "--n", "6", "--writer", models[0])
            drafted = cli(*arguments, "--checker", models[1], "--pilot", models[1], "-o", f"{kind}.yaml", "--json").json
        assert drafted["accepted"] == 3
        assert drafted["difficulties"] == {"0.00": 3}
        assert sum(drafted["refused"].values()) == 3
        assert cli("benchmarks", "check", f"{kind}.yaml").code == 0
        dry = cli("run", f"{kind}.yaml", "-m", "demo/strong", "--dry-run", "--json").json
        assert dry["trials"] == 3
        rows = [json.loads(line) for line in Path(f"{kind}.jsonl").read_text().splitlines()]
        assert all(row["answer"] in row["choices"] for row in rows)
    mixed = cli(*arguments, "--kind", "qa", "--checker", models[1], "-o", "choice.yaml")
    assert "has drafts of the kind 'choice'" in mixed.error


def reply_of(kind: str) -> Callable[[Ask], Reply]:
    """A writer of choices or statements that errs on three passages, and a checker that reads the passage."""

    def answer(ask: Ask) -> Reply:
        found = re.search(r"(\w+) keeps the key of tower (\d+)", ask.text)
        if ask.model == "writer":
            assert found is not None
            name, tower = found[1], found[2]
            wrong = {"Bela": ["Ida", "Ida", "Ole"], "Cleo": ["Ida"]}.get(name, ["Ida", "Ole", "Uwe"])
            value = {"Bela": "perhaps", "Dora": "false"}.get(name, "true")
            evidence = "nothing of it" if name == "Cleo" else f"{name} keeps the key"
            said: dict[str, object] = (
                {"question": f"Who keeps the key of tower {tower}?", "answer": name, "wrong": wrong}
                if kind == "choice"
                else {"question": f"Tower {tower} is opened by {name}.", "answer": value, "evidence": evidence}
            )
            return Reply(json.dumps(said if name != "Fritz" else {"question": "What?"}))
        if found is None or "Passage:" not in ask.text:
            return Reply("unknown")
        letters = dict(reversed(pair) for pair in re.findall(r"^([A-D])\. (.+)$", ask.text, re.MULTILINE))
        wanted = found[1] if kind == "choice" else "false" if found[1] == "Dora" else "true"
        return Reply(letters[wanted])

    return answer


def test_an_answer_whose_words_stand_in_the_question_in_another_order_is_a_leak() -> None:
    passage = "The tower of Harwick was built by Anselm Wiegand in 1889."
    leak = WrittenSample("What did Wiegand, whose first name was Anselm, build?", "Anselm Wiegand")
    assert refused_by_rules(KINDS["qa"], leak, passage) == "the question gives the answer away"
    fair = WrittenSample("Who of the family of Wiegand built the tower?", "Anselm Wiegand")
    assert refused_by_rules(KINDS["qa"], fair, passage) is None


def test_choices_that_give_themselves_away_are_refused() -> None:
    kind = KINDS["choice"]
    passage = "The lighthouse on the northern cape was built by the brothers Anselm and Ottokar Wiegand."
    long = WrittenSample(
        "Who built it?",
        "the brothers Anselm and Ottokar Wiegand",
        ("Ida", "Ole", "Uwe", "the brothers Anselm and Ottokar Wiegand"),
    )
    assert refused_by_rules(kind, long, passage) == "the right choice stands out by its length"
    two = WrittenSample("Who?", "Anselm", ("Anselm", "Ida", "ida!", "Ole"))
    assert refused_by_rules(kind, two, passage) == "there are no three wrong choices that differ"
    fair = WrittenSample("Who?", "Anselm", ("Ole", "Anselm", "Ida", "Uwe"))
    assert refused_by_rules(kind, fair, passage) is None
    assert [is_answered(fair, reply) for reply in ("B", "(B) Anselm", "Anselm", "A", "Anselm or Ole", "unknown")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_what_is_asked_of_other_models_is_no_longer_than_what_was_reserved_for_it() -> None:
    passage = "Anselm built it."
    long = WrittenSample("Who? " * 121, "Anselm", ("Anselm", "Ida", "Ole", "Uwe"))
    assert refused_by_rules(KINDS["choice"], long, passage) == "the question is longer than 600 characters"
    wide = WrittenSample("Who?", "Anselm", ("Anselm", "Ida", "Ole", "Uwe " * 26))
    assert refused_by_rules(KINDS["choice"], wide, passage) == "a wrong choice is longer than a short answer"
    dearest = WrittenSample("\U0001f5dd" * MAX_QUESTION_LENGTH, "", ("\U0001f5dd" * MAX_ANSWER_LENGTH,) * 4)
    for kind in KINDS.values():
        asked = ask_with(kind, dearest, passage).encode()
        assert len(asked) <= len(f"{kind.writer}{passage}{REPLY_ROOM}".encode())


def test_passages_are_whole_paragraphs_of_a_bounded_length() -> None:
    found = passages_of("short\n\n" + "A sentence of some length. " * 200 + "\n\n" + "x" * 5000)
    assert all(len(passage) <= 1300 for passage in found)
    assert sum(len(passage) for passage in found) > 10_000


def test_a_pdf_is_read_and_what_is_no_pdf_is_one_line(cli: Cli) -> None:
    Path("broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    ended = cli("benchmarks", "draft", "broken.pdf", "--writer", "demo/strong", "--checker", "demo/weak")
    assert ended.code == 2
    assert "broken.pdf cannot be read: it is no PDF" in ended.error
    Path("real.pdf").write_bytes(
        pdf("The warden of the lighthouse is called Ottilie, and she is ninety years old. " * 2)
    )
    ended = cli("benchmarks", "draft", "real.pdf", "--writer", "demo/strong", "--checker", "demo/weak", "--json")
    assert ended.json["passages"] == 1


def test_a_word_that_a_pdf_breaks_over_two_lines_is_one_word(tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(pdf("The observatory of the island counts exam-", "ples of puffins in the spring."))
    assert read_document(path) == "The observatory of the island counts examples of puffins in the spring."


def pdf(*lines: str) -> bytes:
    """A page with these lines of text."""
    stream = f"BT /F1 4 Tf 5 TL 10 100 Td {' T* '.join(f'({line}) Tj' for line in lines)} ET".encode()
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(body))
        body += b"%d 0 obj%s endobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return body + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(body),
    )
