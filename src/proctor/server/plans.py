"""Plans of callers: read like a plan file, and held to what the operator of this machine allows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Header

from proctor import plugins
from proctor.accounts.provider_keys import registered_origins
from proctor.benchmarks.registry import is_installed
from proctor.domain.documents.problem_details import FieldProblem
from proctor.domain.errors import UserError
from proctor.domain.fields import InvalidValueError
from proctor.domain.matrix import BenchmarkMatrix, Matrix
from proctor.domain.plan import BenchmarkSpec, ModelSpec, Plan
from proctor.models.key_hosts import origin_of
from proctor.models.registry import list_providers, named_hosts
from proctor.planning.matrix import entry_of
from proctor.runs.benchmarks.own import find_own, plain_reference
from proctor.server.access import Caller, Permission
from proctor.server.problems import ProblemError, pointer, problem_of
from proctor.stores.accounts.budgets import BudgetStore
from proctor.stores.database import Database
from proctor.yaml_document import explain_each, explain_value

ADDRESS = "base_url"
CONNECTION = ("auth_variable", ADDRESS, "url", "url_variable")
"""Settings that say where a key goes, or which."""
PLACES = {"requirements": ("problems", "wheelhouse", "index")}
"""Parameters of benchmarks that name a place."""
FOREIGN_SCORERS = frozenset({"deepeval_benchmark", "inspect"})
"""Registered scorers whose options name code or folders."""
STEPS = ("int", "float", "str")
KeyHosts = Annotated[
    str | None,
    Header(
        max_length=4_000,
        description="Hosts, with commas between them, that the operator of the server named for keys; without it, all "
        "that the plan names. Other callers' keys go to the project's connections.",
    ),
]


def read_plan(value: Any, caller: Caller, key_hosts: str | None = None) -> Plan:
    """The plan; a mistake gets the sentence of the command line, and a pointer to each field with one.

    `key_hosts` are the hosts, with commas between them, that the operator named himself where the plan comes from a
    file or from an agent; None where he writes the whole plan.
    """
    if isinstance(value, dict) and "key_hosts" in value:
        detail = "A plan cannot say where keys may go; set PROCTOR_KEY_HOSTS in the environment of the server."
        raise ProblemError(422, "plan", detail, [FieldProblem("/key_hosts", detail)])
    try:
        plan = Plan.model_validate(value)
    except InvalidValueError as error:
        errors = [
            FieldProblem(pointer([step for step in path if step not in STEPS]), said)
            for path, said in explain_each(error, Plan)
        ]
        raise ProblemError(422, "plan", explain_value(error, Plan), errors) from None
    plan = plan.model_copy(
        update={
            "benchmarks": tuple(
                spec.model_copy(update={"benchmark": plain_reference(spec.benchmark)}) for spec in plan.benchmarks
            )
        }
    )
    if not caller.is_operator:
        refuse_foreign_kinds(plan, caller)
        return plan
    # The person at the machine names models here as he does on the command line.
    hosts = named_hosts([*plan.models, *plan.judge]) if key_hosts is None else key_hosts.split(",")
    return plan.model_copy(update={"key_hosts": tuple(host for host in hosts if host)})


def refuse_foreign_kinds(plan: Plan, caller: Caller) -> None:
    """What reads or runs something of this machine is the operator's to allow, never a caller's to name."""
    for index, spec in enumerate(plan.models):
        refuse_foreign_model(spec, ["models", index], caller)
    for index, spec in enumerate(plan.judge):
        refuse_foreign_model(spec, ["judge", index], caller)
    for index, benchmark in enumerate(plan.benchmarks):
        is_own = find_own(caller.database, benchmark.benchmark) is not None
        refuse_foreign_benchmark(benchmark, ["benchmarks", index], is_own=is_own)
        _refuse_prompt_files(benchmark.matrix, ["benchmarks", index, "matrix", "prompt"])
    _refuse_prompt_files(plan.matrix, ["matrix", "prompt"])
    if plan.unsafe_no_sandbox:
        _refuse(["unsafe_no_sandbox"], "code of models runs in a sandbox here")


def refuse_foreign_benchmark(spec: BenchmarkSpec, path: list[str | int], *, is_own: bool = False) -> None:
    """Anybody may name what is installed or his project's own, but no file, module or address.

    Nor may its parameters name one.
    """
    is_known = is_own or is_installed(spec.benchmark)
    if not is_known and any(mark in spec.benchmark for mark in "/\\.:@"):
        _refuse(path, f"{spec.benchmark} is a file, a module or an address")
    if isinstance(spec.parameters.get("prompt"), str):
        _refuse([*path, "prompt"], "the prompt's file is one of the server's machine")
    for name in PLACES.get(spec.benchmark, ()):
        if name in spec.parameters:
            _refuse([*path, name], f"{name} names a folder of the server's machine, or an address that it would ask")


def refuse_foreign_model(spec: ModelSpec, path: list[str | int], caller: Caller) -> None:
    """A model of a hosted provider may be named by anybody, but where it is asked is a connection of the project's."""
    hosted = {one.provider.name for one in list_providers({}) if one.key_variable is not None} | {"demo"}
    if spec.provider not in hosted and plugins.is_known("models", spec.provider):
        _refuse(path, f"a model of {spec.provider}/ runs or reaches something of the server's own machine")
    for name in CONNECTION:
        if name in spec.settings and not (name == ADDRESS and _is_registered(spec, caller)):
            detail = (
                f"{name} is not a caller's to say: the project {caller.project} has no connection there. Its owner "
                "adds one for hosts that the operator allows (/api/v1/provider-keys)."
                if name == ADDRESS
                else f"{name} is not a caller's to say: keys belong to the project's connections."
            )
            raise ProblemError(422, "secret-needed", detail, [FieldProblem(pointer(path), detail)])


def _is_registered(spec: ModelSpec, caller: Caller) -> bool:
    """By scheme, host and port: the key that is kept for them goes nowhere else."""
    origin = origin_of(str(spec.settings[ADDRESS]))
    return bool(origin) and origin in registered_origins(caller.database, spec.provider)


def refuse_foreign_scorer(name: str, path: list[str | int]) -> None:
    """A scorer may be any that is registered, never a function of a module by its name."""
    if "://" in name or any(mark in name for mark in "/\\.") or name in FOREIGN_SCORERS:
        _refuse(path, f"{name} runs code of the server's own machine")


def _refuse_prompt_files(matrix: BenchmarkMatrix | Matrix | None, path: list[str | int]) -> None:
    if matrix is not None and any(isinstance(one, str) for one in matrix.prompt or ()):
        _refuse(path, "the prompt's file is one of the server's machine")


def _refuse(path: list[str | int], why: str) -> None:
    detail = f"{why[:1].upper()}{why[1:]}: its operator may use that, callers may not."
    raise ProblemError(403, "kind-not-allowed", detail, [FieldProblem(pointer(path), detail)])


def refuse_assumed_price(price: str | None, caller: Caller, database: Database, path: list[str | int]) -> None:
    """Where a budget holds, what is reserved of it for a model that has no known price is not for everybody to say."""
    if price is None or caller.spender is None or Permission.PROJECT_ADMIN in caller.permissions:
        return
    if any(budget.cost_usd is not None for budget in BudgetStore(database).of(caller.spender)):
        detail = "assume_price is for the project's owners to say while a budget holds: it decides what is reserved."
        raise ProblemError(403, "owners-only", detail, [FieldProblem(pointer(path), detail)])


@contextmanager
def located(plan: Plan) -> Iterator[None]:
    """A mistake that shows when names are looked up says which field of the plan it comes from."""
    try:
        yield
    except UserError as error:
        field = entry_of(plan, error.field, error.setting)
        if not field:
            raise
        # A name that a plan gives and that there is not is a mistake in the request: the address is there.
        problem = problem_of(error)
        raise ProblemError(422, "plan", problem.detail, [FieldProblem(pointer(field), problem.detail)]) from error
