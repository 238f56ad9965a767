"""The example notebooks, from top to bottom, in a real kernel without a display; and what a kernel shows of a run."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.domain.documents.comparison import Comparisons
from proctor.reports.fragments import comparisons_html

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
SLOW = """
import asyncio


async def answer(text):
    await asyncio.sleep(0.1)
    return "ANSWER: <script>alert(1)</script>"
"""
SECONDS = 240


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_notebook_can_be_executed(path: Path, kernel_home: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not [cell for cell in book.cells if cell.get("outputs")], "notebooks are kept without outputs"
    client = nbclient.NotebookClient(book, timeout=SECONDS, resources={"metadata": {"path": str(kernel_home)}})
    client.execute()
    shown = [data for cell in book.cells for output in cell.get("outputs", []) for data in [output.get("data", {})]]
    assert any("<progress" in data.get("text/html", "") for data in shown)
    assert any("95 % interval" in data.get("text/html", "") for data in shown)


class Kernel:
    """A kernel that is asked cell by cell."""

    def __init__(self, folder: Path) -> None:
        from jupyter_client.manager import start_new_kernel

        self.manager, self.client = start_new_kernel(cwd=str(folder))

    def execute(self, code: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """What the kernel publishes until the cell has ended."""
        asked = self.client.execute(code)
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=SECONDS)
            except queue.Empty:
                raise AssertionError("the kernel says nothing more") from None
            if message["parent_header"].get("msg_id") != asked and message["msg_type"] != "update_display_data":
                continue
            assert message["msg_type"] != "error", message["content"]
            yield message["msg_type"], message["content"]
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(kernel_home: Path) -> Iterator[Kernel]:
    pytest.importorskip("ipykernel")
    (kernel_home / "slow.py").write_text(SLOW)
    found = Kernel(kernel_home)
    yield found
    found.end()


def test_a_run_shows_how_far_it_is_while_it_is_executed(kernel: Kernel) -> None:
    code = "import proctor\nrun = proctor.evaluate('puzzles', 'python/slow:answer', limit=40, concurrency=2)\nrun"
    published = list(kernel.execute(code))
    updates = [content["data"]["text/plain"] for kind, content in published if kind == "update_display_data"]
    assert any(" 40 (" in text and "40 of 40" not in text for text in updates), updates
    assert "40 of 40 (100 %)" in updates[-1]
    [result] = [content["data"] for kind, content in published if kind == "execute_result"]
    assert result["text/plain"].endswith(", completed)")
    assert "python/slow:answer" in result["text/html"]
    assert not [content for kind, content in published if kind == "stream"]


def test_outside_a_notebook_nothing_is_displayed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import proctor

    assert repr(proctor.evaluate("puzzles", models="demo/strong", limit=2)).endswith(", completed)")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


def test_names_that_others_gave_are_no_markup(home: Path) -> None:
    import proctor

    label = "<img src=x onerror=alert(1)>\u202e"
    models = [{"model": "demo/strong", "label": label}, "demo/weak"]
    found: Comparisons = proctor.compare(proctor.evaluate("puzzles", models=models, limit=20), flips=3)
    made = comparisons_html(found)
    assert "<img" not in made
    assert "&lt;img src=x" in made
    assert "\u202e" not in made
