"""The engines by their names: what each opens around a run, and closes after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TypeAlias

from pyvision.bench.runner.engines.protocol import Engine
from pyvision.bench.runner.engines.threads import Threads
from pyvision.bench.runner.engines.worker_context import WorkerContext
from pyvision.bench.runner.plan import Plan
from pyvision.bench.runner.preflight import check_sandbox
from pyvision.errors import ConfigError
from pyvision.solve import Task
from sandbox import Sandbox

Opener: TypeAlias = Callable[[Plan, Task], AbstractContextManager[Engine]]


def open_engine(plan: Plan, task: Task) -> AbstractContextManager[Engine]:
    """The engine that the plan names, with its sandbox tried by one cell.

    Raises ConfigError for an unknown one, sandbox.SandboxError for a sandbox that is dead.
    """
    if plan.engine not in ENGINES:
        raise ConfigError(f"unknown engine {plan.engine!r}; known engines are {', '.join(ENGINES)}")
    return ENGINES[plan.engine](plan, task)


@contextmanager
def _threads(plan: Plan, task: Task) -> Iterator[Engine]:
    with Sandbox(task.policy, max_sessions=plan.workers) as sandbox:
        check_sandbox(task, sandbox)
        with closing(Threads(WorkerContext(task, sandbox, plan.around()), plan.workers)) as engine:
            yield engine


@contextmanager
def _ray(plan: Plan, task: Task) -> Iterator[Engine]:
    from pyvision.bench.runner.engines.ray import open_ray

    with open_ray(plan) as engine:
        yield engine


ENGINES: Mapping[str, Opener] = {"threads": _threads, "ray": _ray}
