"""Answer samples on the nodes of a Ray cluster (extra `ray`); only the driver writes results.

Each node has one worker context: its own sandbox, which must run a cell before it gets a sample, and its own models,
built there from configuration. So keys, configuration files and price tables have to be on every node; images travel
with the samples. Samples of a lost node run elsewhere, and a node that joins is used once another is lost.
RAY_ADDRESS names the cluster; without it, Ray starts one on this machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.bench.runner.answering import Finished, Job, T, WorkerContext
from pyvision.bench.runner.failures import check_sandbox
from pyvision.bench.runner.plan import Plan
from pyvision.bench.samples import Record
from pyvision.errors import ConfigError, MissingExtra
from sandbox import IsolationError, Sandbox

_POLL_S = 1.0
_STOP_S = 5.0  # how long a job may take to end after `stop`
_MAX_LOSSES = 3  # of nodes that ran the same sample; then the sample is to blame


@contextmanager
def open_ray(plan: Plan) -> Iterator[RayEngine]:
    """An engine over the cluster. Raises MissingExtra, ConfigError, sandbox.IsolationError if no node is usable."""
    try:
        ray = import_module("ray")
    except ModuleNotFoundError as error:
        raise MissingExtra("ray", "ray") from error
    _check_portable(plan)
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(log_to_driver=False, logging_level="error")
    try:
        engine = RayEngine(ray, plan)
        try:
            yield engine
        finally:
            engine.close()
    finally:
        if is_ours:
            ray.shutdown()


class NodeContext:
    """The worker context of one node, as a Ray actor; `answer` runs once for each worker of the node in parallel."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._task = plan.task()
        self._sandbox = Sandbox(self._task.policy, max_sessions=plan.workers)
        self._context = WorkerContext(self._task, self._sandbox, plan.around())

    def check(self) -> None:
        """Run one cell. Raises SandboxError."""
        check_sandbox(self._task, self._sandbox)

    def answer(self, job: Job) -> Finished:
        """Answer the job's sample; failures end up in its record."""
        return self._context.answer(job)

    def stop(self) -> None:
        """End the episodes on this node."""
        self._context.stop()

    def close(self) -> None:
        """End every kernel and close the models."""
        self._sandbox.close()
        self._task.close()


@dataclass(frozen=True, slots=True)
class _Running:
    job: Job
    node: str
    context: Any
    losses: int = 0


class RayEngine:
    """One worker context on each node that can run cells; a sample goes to the node with the fewest running."""

    def __init__(self, ray: Any, plan: Plan) -> None:
        self._ray = ray
        self._plan = plan
        self._contexts: dict[str, Any] = {}
        self._unfit: dict[str, str] = {}  # node -> why
        self._running: dict[Any, _Running] = {}
        self._is_draining = False
        self._stopped_at: float | None = None
        self._find_nodes()

    def answer(self, jobs: Iterator[Job], finish: Callable[[Finished], T]) -> Iterator[tuple[T, ...]]:
        """Yields what `finish`, which runs in this process, makes of the jobs that have ended."""
        self._fill(jobs)
        while self._running and not self._is_overdue():
            collected = [self._collect(reference) for reference in self._wait()]
            if ended := tuple(finish(finished) for finished in collected if finished is not None):
                yield ended
            self._fill(jobs)

    def drain(self) -> None:
        """Take no more jobs."""
        self._is_draining = True

    def stop(self) -> None:
        """End the episodes on every node."""
        self._is_draining = True
        self._stopped_at = time.monotonic()
        for context in tuple(self._contexts.values()):
            context.stop.remote()

    def close(self) -> None:
        """Close the worker contexts; a lost node cleans up after itself."""
        with suppress(self._ray.exceptions.RayError, self._ray.exceptions.GetTimeoutError):
            self._ray.get([context.close.remote() for context in self._contexts.values()], timeout=10)
        for context in self._contexts.values():
            self._ray.kill(context)
        self._contexts.clear()

    def _fill(self, jobs: Iterator[Job]) -> None:
        while len(self._running) < self._plan.workers and not self._is_draining:
            job = next(jobs, None)
            if job is None:
                return
            self._submit(replace(job, sample=replace(job.sample, images=_bytes_of(job))))

    def _submit(self, job: Job, losses: int = 0) -> None:
        busy = [running.node for running in self._running.values()]
        node = min(self._contexts, key=busy.count)
        context = self._contexts[node]
        self._running[context.answer.remote(job)] = _Running(job, node, context, losses)

    def _wait(self) -> Sequence[Any]:
        """The jobs that have ended; none after a while without any."""
        running = list(self._running)
        self._ray.wait(running, num_returns=1, timeout=_POLL_S)
        ready, _ = self._ray.wait(running, num_returns=len(running), timeout=0)
        return list(ready)

    def _collect(self, reference: Any) -> Finished | None:
        """The job that ended; None if its node was lost and it now runs elsewhere."""
        running = self._running.pop(reference)
        try:
            finished: Finished = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return self._resubmit(running, error)
        return finished

    def _resubmit(self, running: _Running, error: Exception) -> Finished | None:
        if self._contexts.get(running.node) is running.context:  # else another lost job has replaced it
            del self._contexts[running.node]
        self._find_nodes()
        if running.losses + 1 < _MAX_LOSSES:
            self._submit(running.job, running.losses + 1)
            return None
        sample = running.job.sample
        why = f"{_MAX_LOSSES} nodes were lost while they ran it, the last with: {_last_line(error)}"
        record = Record(sample.id, running.job.repeat, sample.category, None, "error", why)
        return Finished(running.job, record, ())

    def _find_nodes(self) -> None:
        """Put a worker context on every node that has none. Raises IsolationError when no node can have one."""
        alive = {str(node["NodeID"]) for node in self._ray.nodes() if node["Alive"]}
        self._contexts = {node: context for node, context in self._contexts.items() if node in alive}
        share = -(-self._plan.workers // max(1, len(alive)))  # of the workers, for each node
        new = {node: self._context_on(node, share) for node in sorted(alive - self._contexts.keys())}
        for node, context in new.items():
            try:
                self._ray.get(context.check.remote())
                self._contexts[node] = context
            except self._ray.exceptions.RayError as error:
                self._unfit[node] = _last_line(error)
        if not self._contexts:
            why = next(iter(self._unfit.values()), "it has no nodes")
            raise IsolationError(f"no node of the cluster can answer samples: {why}")

    def _context_on(self, node: str, share: int) -> Any:
        scheduling = import_module("ray.util.scheduling_strategies")
        remote = self._ray.remote(NodeContext).options(
            num_cpus=0,
            max_concurrency=share * 2 + 2,  # for `stop`, and for more when another node is lost
            scheduling_strategy=scheduling.NodeAffinitySchedulingStrategy(node, soft=False),
        )
        return remote.remote(replace(self._plan, source=_without_samples(self._plan)))

    def _is_overdue(self) -> bool:
        """Whether the jobs that still run have had their time to end after `stop`."""
        return self._stopped_at is not None and time.monotonic() > self._stopped_at + _STOP_S


def _check_portable(plan: Plan) -> None:
    settings: Mapping[str, Any] = plan.settings
    models = (settings.get("model"), *settings.get("roles", {}).values())
    if any(model is not None and not isinstance(model, str) for model in models):
        raise ConfigError("engine 'ray' builds models on the nodes; pass their names or configuration files")


def _bytes_of(job: Job) -> tuple[bytes | Path, ...]:
    """The images as they travel; an unreadable one fails on its node, with its name."""
    return tuple(
        image if isinstance(image, bytes) or not image.is_file() else image.read_bytes()
        for image in job.sample.images
    )


def _without_samples(plan: Plan) -> Any:
    """The plan's source without its samples, which stay on the driver."""
    return replace(plan.source, open=tuple)


def _last_line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2][:300]
