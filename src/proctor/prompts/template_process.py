"""The process that fills in templates of any kind: started when first needed, ended when one takes too much."""

from __future__ import annotations

import atexit
import json
import os
import pickle
from collections.abc import Mapping
from typing import Any

from proctor.domain.errors import RunError, TemplateLimitError
from proctor.prompts.jinja import Flavour
from proctor.worker_process import WorkerDiedError, WorkerNotStartedError, WorkerProcess, WorkerTooSlowError

CPU_SECONDS = 5.0
"""For one template; most take a thousandth."""
WALL_SECONDS = 120.0
"""For when the process does not get to compute: a busy machine is no fault of the template."""
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")


class TemplateProcess:
    """One worker, used by one caller at a time."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        self._worker = WorkerProcess("proctor.prompts.template_worker", kept)

    def fill_in(self, flavour: Flavour, source: str, variables: Mapping[str, Any]) -> str:
        """The template's text; raises ValueError saying why there is none, or TemplateLimitError."""
        try:
            question = pickle.dumps((flavour, source, dict(variables)))
        except Exception as fault:
            raise ValueError(f"a value cannot be handed to a template with logic: {fault}") from fault
        try:
            reply = json.loads(self._worker.ask(question, self._cpu_seconds, WALL_SECONDS))
        except WorkerTooSlowError as fault:
            raise TemplateLimitError(f"it takes {fault}") from None
        except WorkerDiedError:
            raise TemplateLimitError("it takes more memory than there is for a template") from None
        except WorkerNotStartedError:
            raise RunError("The process that fills in templates did not start.") from None
        if "limit" in reply:
            raise TemplateLimitError(reply["limit"])
        if "fault" in reply:
            raise ValueError(reply["fault"])
        text: str = reply["text"]
        return text

    def close(self) -> None:
        self._worker.close()


_SHARED = TemplateProcess()
atexit.register(_SHARED.close)
fill_in = _SHARED.fill_in
