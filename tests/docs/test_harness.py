"""The harness itself: an example that is not true must be noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.markdown import blocks, steps
from docs.playing import play
from docs.refresh import refresh_document
from docs.terminal import masked

PAGE = """# A page

<!-- file: greeting.txt -->
```text
good morning
```

```console
$ cat greeting.txt
good morning
$ false
$ echo $?
1
```

```python
print(6 * 7)
```

<!-- output -->
```text
42
```

<!-- needs: a key -->
```console
$ this-command-does-not-exist
```
"""


def test_a_page_that_is_true_plays(tmp_path: Path) -> None:
    assert [item.is_true for item in play(PAGE, tmp_path)] == [True, True]


@pytest.mark.parametrize(
    ("true", "false"), [("\ngood morning\n$", "\ngood evening\n$"), ("42", "43"), ("\n1\n", "\n0\n")]
)
def test_an_output_that_is_not_true_is_noticed_and_mended(true: str, false: str, tmp_path: Path) -> None:
    wrong = PAGE.replace(true, false)
    assert wrong != PAGE
    assert not all(item.is_true for item in play(wrong, tmp_path / "played"))
    page = tmp_path / "page.md"
    page.write_text(wrong, encoding="utf-8")
    assert refresh_document(page)
    assert page.read_text(encoding="utf-8") == PAGE
    assert not refresh_document(page)


def test_an_example_that_raises_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        list(play("```python\n1 / 0\n```\n", tmp_path))


def test_a_traceback_is_never_taken_for_an_output(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ python -c 1/0\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        refresh_document(page)
    assert "Traceback" not in page.read_text(encoding="utf-8")


def test_run_ids_times_and_widths_do_not_count_but_figures_do() -> None:
    one = masked("Run 1nfmb3sqe7qq: completed in 336 ms\ndemo  0.950 n=120   0.05 ms")
    assert one == masked("Run 1nfmzzzzzzzz: completed in 1.2 s\ndemo 0.950 n=120 12 s")
    assert one != masked("Run 1nfmb3sqe7qq: completed in 336 ms\ndemo  0.951 n=120   0.05 ms")
    assert masked("demo 0.950 2026-11-15 1nfmb3sqe7qq") == masked("demo 0.950 2027-01-02 1nfmzzzzzzzz")
    assert masked("280 of 400 left", has_numbers=False) == masked("3 of 400 left", has_numbers=False)
    assert masked("280 of 400 left", has_numbers=False) != masked("280 of 400 lost", has_numbers=False)


def test_a_command_may_go_on_in_the_next_line() -> None:
    (block,) = blocks("```console\n$ echo a \\\n  b\na b\n$ true\n```\n")
    assert [(step.command, step.shown) for step in steps(block)] == [("echo a \\\n  b", ("a b",)), ("true", ())]


def test_marks_belong_to_the_next_block_only() -> None:
    first, second = blocks("<!-- needs: a key -->\n```console\n$ a\n```\n\n```console\n$ b\n```\n")
    assert (first.marks, second.marks) == ({"needs": "a key"}, {})


def test_text_between_a_mark_and_a_block_takes_the_mark_away() -> None:
    (block,) = blocks("<!-- needs: a key -->\nWords.\n```console\n$ a\n```\n")
    assert block.marks == {}
