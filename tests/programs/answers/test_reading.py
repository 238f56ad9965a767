"""Programs read out of answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.domain.response import Response
from proctor.domain.submission import MAX_BYTES, MAX_DEPTH, MAX_FILES, Collected, Submission, clean_path
from proctor.programs.answers.reading import program_of, read_answer
from proctor.prompts.program_format import answer_format

sys.path.insert(0, str(Path(__file__).parent))
from corpus import DOCUMENTED, GROUPS, HUNK, MAIN, NOTHING, ONE, PY, STORE, Case, fence

ALL = [(group, case) for group, cases in GROUPS.items() for case in cases]
WANTED_SHARE = 0.97


def read(case: Case) -> Submission:
    return read_answer(case.text, case.entries, {path: text.encode() for path, text in case.given.items()})


def plain(submission: Submission) -> dict[str, str]:
    return {path: content.decode() for path, content in submission.files.items()}


def test_nearly_every_answer_of_the_corpus_is_read_exactly() -> None:
    wrong = [f"{group}: {case.name}" for group, case in ALL if plain(read(case)) != case.files]
    assert len(ALL) >= 60
    assert 1 - len(wrong) / len(ALL) >= WANTED_SHARE, wrong


@pytest.mark.parametrize("group", GROUPS)
def test_every_way_of_writing_is_read(group: str) -> None:
    right = [case.name for case in GROUPS[group] if plain(read(case)) == case.files]
    assert len(right) >= 0.9 * len(GROUPS[group])


@pytest.mark.parametrize("case", NOTHING, ids=lambda case: case.name)
def test_an_answer_without_a_program_has_none(case: Case) -> None:
    submission = read(case)
    assert plain(submission) == {}
    assert submission.notes == ("no file was found in the answer",)


def test_the_format_that_the_prompt_asks_for_is_read() -> None:
    asked = answer_format(("main.py", "main.js"))
    assert "```python main.py" in asked
    written = fence("python main.py", DOCUMENTED, "````") + fence("text data/a.txt", "x\n")
    assert plain(read_answer(written, PY)) == {"main.py": DOCUMENTED, "data/a.txt": "x\n"}


def test_the_files_of_an_agent_are_taken_as_they_are() -> None:
    files = {"main.py": b"\xff\x00", "x/y.bin": b"1"}
    submission = program_of(Response(fence("python main.py", MAIN), files=files), PY)
    assert (submission.files, submission.form) == (files, "agent")
    assert plain(program_of(Response(fence("python main.py", MAIN)), PY)) == ONE


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../main.py", "leads out of the folder"),
        ("a/../../main.py", "leads out of the folder"),
        ("/etc/cron.d/x.py", "absolute"),
        ("C:\\windows\\x.py", "absolute"),
        ("~/x.py", "begins with '~'"),
        ("..\\x.py", "leads out of the folder"),
        ("/".join(["a"] * (MAX_DEPTH + 1)) + "/x.py", "folders deep"),
        ("a" * 101 + ".py", "longer than"),
    ],
)
def test_paths_that_lead_out_are_refused_with_the_reason(path: str, reason: str) -> None:
    for text in (
        fence("python main.py", MAIN) + fence(f'python title="{path}"', STORE),
        json.dumps({"files": {"main.py": MAIN, path: STORE}}),
        f'<file path="main.py">\n{MAIN}</file>\n<file path="{path}">\n{STORE}</file>',
    ):
        submission = read_answer(text, PY)
        assert plain(submission) == ONE
        assert reason in submission.refused[path]


def test_a_diff_on_a_path_outside_is_refused() -> None:
    submission = read_answer(fence("diff", HUNK.replace("main.py", "../main.py")), PY, {"main.py": MAIN.encode()})
    assert submission.files == {}
    assert "leads out" in submission.refused["../main.py"]


def test_a_diff_that_does_not_fit_is_refused_with_the_reason() -> None:
    submission = read_answer(fence("diff", HUNK), PY, {"main.py": b"other\n"})
    assert submission.refused == {"main.py": "change 1 does not fit: its old lines are not in the file"}
    submission = read_answer(fence("diff", HUNK), PY)
    assert submission.refused == {"main.py": "the file that is to be changed is not there"}


def test_too_many_and_too_large_files_are_refused() -> None:
    taken = Collected()
    for number in range(MAX_FILES):
        assert taken.take(f"{number}.py", b"")
    assert not taken.take("one-more.py", b"")
    assert "more than 1,000 files" in taken.refused["one-more.py"]
    assert not Collected().take("big.py", b"x" * (MAX_BYTES + 1))


def test_a_file_cannot_be_a_folder_too() -> None:
    taken = Collected()
    assert taken.take("a/b.py", b"")
    assert not taken.take("a", b"")
    assert not taken.take("a/b.py/c.py", b"")
    assert "file and a folder" in taken.refused["a"]


def test_how_the_files_were_written_is_said() -> None:
    assert read_answer(fence("python main.py", MAIN), PY).form == "fences"
    assert read_answer(json.dumps(ONE), PY).form == "json"
    assert read_answer(fence("diff", HUNK), PY, {"main.py": MAIN.encode()}).form == "diff"
    single = read_answer(fence("python", MAIN), PY)
    assert (single.form, single.notes) == ("single", ("a block without a path was taken as main.py",))


def test_a_block_that_is_not_closed_is_noted() -> None:
    assert read_answer(f"```python main.py\n{MAIN}", PY).notes == (
        "the block of main.py is not closed: it may be cut off",
    )


def test_an_answer_of_any_length_is_refused_or_read() -> None:
    assert read_answer("x" * 5_000_000, PY).files == {}
    assert read_answer("```python main.py\n" + "x = 1\n" * 200_000 + "```", PY).form == "fences"


PIECES = st.sampled_from(
    ["```", "````", "~~~", "```python main.py", "```python", "# main.py", "<file path=\"a.py\">", "</file>",
     '{"files": {',
         "}", "[", "--- a/main.py", "+++ b/main.py", "@@ -1,2 +1 @@", "@@", "+x", "-y", " z", "<<<<<<< SEARCH",
     "=======",
     ">>>>>>> REPLACE", "main.py", "**a.md**", '"""', "", "x = 1", "../../etc/passwd.txt", "\r", "Usage:", "<content>"]
)  # fmt: skip


@pytest.mark.untraced
@settings(max_examples=400)
@given(st.lists(PIECES | st.text(max_size=10), max_size=25))
def test_any_answer_is_read_without_an_error_and_stays_inside(pieces: list[str]) -> None:
    submission = read_answer("\n".join(pieces), PY, {"main.py": b"x = 1\ny\nz\n"})
    for path in submission.files:
        assert clean_path(path) == path


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(clean_path(path) == path for path in read_answer(text, PY).files)


@given(st.text(max_size=60))
def test_a_clean_path_is_its_own_clean_path_and_never_leaves(path: str) -> None:
    try:
        clean = clean_path(path)
    except ValueError:
        return
    assert clean_path(clean) == clean
    assert not Path(clean).is_absolute()
    assert ".." not in Path(clean).parts


NAMES = st.from_regex(r"\A[a-z]{1,8}(/[a-z]{1,8}){0,2}\.py\Z")
CONTENTS = st.lists(st.from_regex(r"\A[a-z_ =0-9()]{1,20}\Z"), min_size=1, max_size=6).map(
    lambda lines: "\n".join(lines) + "\n"
)


@given(st.dictionaries(NAMES, CONTENTS, max_size=4), CONTENTS)
def test_files_written_in_the_asked_format_come_back_whole(files: dict[str, str], main: str) -> None:
    files = {**files, "main.py": main}
    text = "\n".join(fence(f"python {path}", content) for path, content in files.items())
    assert plain(read_answer(text, PY)) == files
    assert plain(read_answer(json.dumps({"files": files}), PY)) == files
