"""All that a server can be asked, in one object."""

from __future__ import annotations

from proctor.client.benchmarks import ServedBenchmarks
from proctor.client.files import ServedFiles
from proctor.client.programs import ServedPrograms
from proctor.client.rescorings import ServedRescorings
from proctor.client.results import ServedResults
from proctor.client.webhooks import ServedWebhooks


class Client(ServedResults, ServedRescorings, ServedFiles, ServedWebhooks, ServedBenchmarks, ServedPrograms):
    """Asks one server; a mistake raises what the library would raise, with the same sentence.

    The key is sent to this server only, and no redirect is followed. Asking again after a lost connection is left to
    the caller, but for `follow`, which goes on where the stream broke off.
    """
