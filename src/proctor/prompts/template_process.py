"""Fills in templates of any kind in a process of its own, with limits of time and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.domain.errors import TemplateLimitError
from proctor.limited_process import CPU_SECONDS, LimitedProcess, WorkLimitError
from proctor.prompts.jinja import Flavour


class TemplateProcess:
    """One worker, used by one caller at a time."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS) -> None:
        self._process = LimitedProcess("proctor.prompts.template_worker", "fills in templates", cpu_seconds)
        self.close = self._process.close

    def fill_in(self, flavour: Flavour, source: str, variables: Mapping[str, Any]) -> str:
        """The template's text; raises ValueError saying why there is none, or TemplateLimitError."""
        try:
            reply = self._process.ask((flavour, source, dict(variables)))
        except WorkLimitError as fault:
            raise TemplateLimitError(str(fault)) from fault
        if "fault" in reply:
            raise ValueError(reply["fault"])
        return str(reply["text"])


fill_in = TemplateProcess().fill_in
