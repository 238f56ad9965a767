"""The widget itself; imported only where anywidget is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

if TYPE_CHECKING:
    from proctor.library.browsing import BrowsedSamples

HERE = Path(__file__).parent


class SampleBrowser(anywidget.AnyWidget):
    """A list of samples, the one that is chosen, and its comments."""

    _esm = HERE / "sample_browser.js"
    _css = HERE / "sample_browser.css"
    run_id = traitlets.Unicode().tag(sync=True)
    samples: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    comments: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    notice = traitlets.Unicode().tag(sync=True)

    def __init__(self, browsed: BrowsedSamples) -> None:
        super().__init__(run_id=browsed.run_id, samples=browsed.samples(), comments=browsed.comments())
        self._browsed = browsed
        self.on_msg(self._take)

    def _take(self, widget: object, message: object, buffers: object) -> None:  # noqa: ARG002 - what callbacks get
        if isinstance(message, dict) and "comment" in message:
            self.comment(message)

    def comment(self, message: dict[str, Any]) -> None:
        """Keep a comment and show what the run has then; `notice` says why it was not kept."""
        self.notice = self._browsed.add_comment(message)
        if not self.notice:
            self.comments = self._browsed.comments()
