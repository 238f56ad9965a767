"""Every error Proctor raises on purpose.

ProctorError
├── UserError                 a mistake the user can mend: one line, exit code 2
│   ├── PlanError             a plan or a flag
│   ├── BenchmarkError        a benchmark file or its data
│   │   ├── FilterError       a filter that lets no sample through
│   │   ├── TemplateLimitError a template that takes too much time or memory, or becomes too long
│   │   └── NoDataError       data that is somewhere else: not in the folder, and the hub did not give it
│   ├── NotFoundError         a run, model, benchmark or scorer that is not there
│   ├── SignInError           not known, or not the right password, key or link: the same words for all of them
│   ├── TooManyTriesError     passwords are tried too often, or too many at once; try again later
│   ├── BudgetError           a budget has too little left for what a run could cost
│   └── LimitReachedError     as many at once, or in a minute, as are allowed; try again later
├── StoreError                the database, or the store of artifacts, cannot be used
│   └── DamagedArtifactError  an artifact is not what was kept
├── RunError                  a run could not go on; what was recorded is kept
├── ScorerError               a scorer could not score: never a wrong answer
│   ├── PackageSourceError    an index or a registry did not give what programs may use: in no denominator
│   └── JudgeRefusedError     a judge's provider refused the request, perhaps for the answer in it
├── SandboxError              the sandbox itself failed: never a wrong answer
│   └── WorkspaceSpentError   a program used up its workspace, or blocked its folders: its own doing, never a fault
└── ModelError                a request failed
    ├── RateLimitedError      try again later, and more slowly
    ├── ProviderFaultError    server or network fault: try again
    ├── RequestRejectedError  the provider refused this request: trying again will not help
    ├── UnusableAnswerError   the model answered with what cannot be taken, such as too much: scored as invalid
    └── ModelUnavailableError no request to this model can succeed: bad key, unknown model
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from proctor.domain.text import shorten, storable


class ProctorError(Exception):
    """The root of the tree; knows its exit code and HTTP status."""

    exit_code = 1
    http_status = 500


class UserError(ProctorError):
    """A mistake; `field` is the path of the plan's field that it is in, such as ("models", 0), where it is in one.

    `setting` is what it is about where that can be varied, such as "variant": then it may be the matrix that says it.
    """

    exit_code = 2
    http_status = 422
    field: tuple[str | int, ...] = ()

    def __init__(self, message: str = "", *, setting: str = "") -> None:
        super().__init__(message)
        self.setting = setting


class PlanError(UserError):
    pass


class BenchmarkError(UserError):
    pass


class FilterError(BenchmarkError):
    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.field = ("where",) if key is None else ("where", key)


class TemplateLimitError(BenchmarkError):
    pass


class NoDataError(BenchmarkError):
    pass


class NotFoundError(UserError):
    http_status = 404


class SignInError(UserError):
    http_status = 401


class TooManyTriesError(UserError):
    http_status = 429

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class BudgetError(UserError):
    http_status = 402


class LimitReachedError(UserError):
    http_status = 429

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StoreError(ProctorError):
    http_status = 503


class DamagedArtifactError(StoreError):
    pass


class RunError(ProctorError):
    pass


class MissingKeyError(UserError):
    """A provider's key is not set; `variable` is the environment variable that should hold it."""

    def __init__(self, message: str, variable: str = "") -> None:
        super().__init__(message)
        self.variable = variable


class ScorerError(ProctorError):
    pass


class PackageSourceError(ScorerError):
    pass


class JudgeRefusedError(ScorerError):
    pass


class SandboxError(ProctorError):
    http_status = 503


class WorkspaceSpentError(SandboxError):
    pass


class ModelError(ProctorError):
    """A request that failed; `status` is the HTTP status where there was one, or the one that an answer itself gave."""

    http_status = 502
    is_retryable = False

    def __init__(self, message: str, *, status: int | None = None, retry_after_seconds: float | None = None) -> None:
        # Half of it is what a provider, a program or a function said.
        super().__init__(storable(shorten(message)))
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.is_within_answer = False
        """Whether the provider had begun to answer: what it had written by then may be billed."""

    @property
    def was_free(self) -> bool:
        """Whether the provider refused before it did anything: only then is it certain that nothing is billed."""
        return self.status is not None and not self.is_within_answer


class RateLimitedError(ModelError):
    is_retryable = True


class ProviderFaultError(ModelError):
    is_retryable = True


class RequestRejectedError(ModelError):
    pass


class UnusableAnswerError(ModelError):
    pass


class ModelUnavailableError(ModelError):
    pass


@contextmanager
def in_field(*path: str | int, kind: type[UserError] = UserError) -> Iterator[None]:
    """Says of every mistake of this kind that is found within, which field of the plan it is in."""
    try:
        yield
    except kind as error:
        error.field = (*path, *error.field)
        raise


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' Did you mean 'x'?' when something known is close, else nothing."""
    import difflib  # only for a mistake, and not free to import

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""
