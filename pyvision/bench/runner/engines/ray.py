"""Answer samples on the nodes of a Ray cluster (extra `ray`); the driver alone writes.

Each node has one station: its own sandbox, tried by a cell before it gets a sample, and its own models, built there
from configuration. So keys, configuration files and price tables have to be on every node; pictures travel with the
samples. A sample of a node that was lost runs elsewhere, and a node that joins is taken in when another is lost.
RAY_ADDRESS names the cluster; without it, Ray starts one on this machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.bench.runner.engines.protocol import Finished, Job
from pyvision.bench.runner.engines.worker_context import WorkerContext
from pyvision.bench.runner.plan import Plan
from pyvision.bench.runner.preflight import check_sandbox
from pyvision.bench.samples import Record
from pyvision.errors import ConfigError, MissingExtra
from sandbox import IsolationError, Sandbox

_POLL_S = 1.0
_LAST_S = 5.0  # how long a job may take to end once it was stopped
_LOSSES = 3  # of nodes under one sample; then it is to blame


@contextmanager
def open_ray(plan: Plan) -> Iterator[RayEngine]:
    """An engine over the cluster. Raises MissingExtra, ConfigError, sandbox.IsolationError without any fit node."""
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
    """What lives on one node, as a Ray actor; so many calls of `answer` at once as there are workers for it."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._task = plan.task()
        self._sandbox = Sandbox(self._task.policy, max_sessions=plan.workers)
        self._context = WorkerContext(self._task, self._sandbox, plan.around())

    def check(self) -> None:
        """Run one cell. Raises SandboxError."""
        check_sandbox(self._task, self._sandbox)

    def answer(self, job: Job) -> Finished:
        """The job, ended in whatever way."""
        return self._context.answer(job)

    def stop(self) -> None:
        """End what runs here."""
        self._context.stop()

    def close(self) -> None:
        """End every kernel."""
        self._sandbox.close()
        self._task.close()


@dataclass(frozen=True, slots=True)
class _Running:
    job: Job
    node: str
    context: Any
    losses: int = 0


class RayEngine:
    """One station on each node that can run cells; samples go where the fewest are running."""

    def __init__(self, ray: Any, plan: Plan) -> None:
        self._ray = ray
        self._plan = plan
        self._stations: dict[str, Any] = {}
        self._unfit: dict[str, str] = {}  # node -> why
        self._running: dict[Any, _Running] = {}
        self._is_draining = False
        self._stopped_at: float | None = None
        self._find_nodes()

    def answer(self, jobs: Iterator[Job]) -> Iterator[Finished]:
        """Every job that was taken, in the order in which they end."""
        self._fill(jobs)
        while self._running and not self._is_over():
            ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=_POLL_S)
            for reference in ready:
                finished = self._taken(reference)
                self._fill(jobs)
                if finished is not None:
                    yield finished

    def drain(self) -> None:
        """Take no more jobs."""
        self._is_draining = True

    def stop(self) -> None:
        """End what runs on every node."""
        self._is_draining = True
        self._stopped_at = time.monotonic()
        for context in tuple(self._stations.values()):
            context.stop.remote()

    def close(self) -> None:
        """Close the stations; what a lost node held is its own to clean up."""
        with suppress(self._ray.exceptions.RayError, self._ray.exceptions.GetTimeoutError):
            self._ray.get([context.close.remote() for context in self._stations.values()], timeout=10)
        for context in self._stations.values():
            self._ray.kill(context)
        self._stations.clear()

    def _fill(self, jobs: Iterator[Job]) -> None:
        while len(self._running) < self._plan.workers and not self._is_draining:
            job = next(jobs, None)
            if job is None:
                return
            self._submit(replace(job, sample=replace(job.sample, images=_bytes_of(job))))

    def _submit(self, job: Job, losses: int = 0) -> None:
        busy = [running.node for running in self._running.values()]
        node = min(self._stations, key=busy.count)
        context = self._stations[node]
        self._running[context.answer.remote(job)] = _Running(job, node, context, losses)

    def _taken(self, reference: Any) -> Finished | None:
        """What came of a job; None where its node was lost and it runs elsewhere now."""
        running = self._running.pop(reference)
        try:
            finished: Finished = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return self._lost(running, error)
        return finished

    def _lost(self, running: _Running, error: Exception) -> Finished | None:
        if (
            self._stations.get(running.node) is running.context
        ):  # else it was replaced when another job was lost
            del self._stations[running.node]
        self._find_nodes()
        if running.losses + 1 < _LOSSES:
            self._submit(running.job, running.losses + 1)
            return None
        sample = running.job.sample
        told = f"{_LOSSES} nodes were lost under it, the last with: {_line(error)}"
        record = Record(sample.id, running.job.repeat, sample.category, None, "error", told)
        return Finished(running.job, record, ())

    def _find_nodes(self) -> None:
        """Put a station on every node that has none. Raises IsolationError when no node has one."""
        alive = {str(node["NodeID"]) for node in self._ray.nodes() if node["Alive"]}
        self._stations = {node: context for node, context in self._stations.items() if node in alive}
        share = -(-self._plan.workers // max(1, len(alive)))  # of the workers, for each node
        new = {node: self._context_on(node, share) for node in sorted(alive - self._stations.keys())}
        for node, context in new.items():
            try:
                self._ray.get(context.check.remote())
                self._stations[node] = context
            except self._ray.exceptions.RayError as error:
                self._unfit[node] = _line(error)
        if not self._stations:
            why = next(iter(self._unfit.values()), "it has no node")
            raise IsolationError(f"no node of the cluster can answer samples: {why}")

    def _context_on(self, node: str, share: int) -> Any:
        scheduling = import_module("ray.util.scheduling_strategies")
        remote = self._ray.remote(NodeContext).options(
            num_cpus=0,
            max_concurrency=share * 2 + 2,  # for `stop`, and for more when another node is lost
            scheduling_strategy=scheduling.NodeAffinitySchedulingStrategy(node, soft=False),
        )
        return remote.remote(replace(self._plan, source=_nothing(self._plan)))

    def _is_over(self) -> bool:
        """Whether those that still run do not end, though they were stopped."""
        return self._stopped_at is not None and time.monotonic() > self._stopped_at + _LAST_S


def _check_portable(plan: Plan) -> None:
    settings: Mapping[str, Any] = plan.settings
    models = (settings.get("model"), *settings.get("roles", {}).values())
    if any(model is not None and not isinstance(model, str) for model in models):
        raise ConfigError("engine 'ray' builds models on the nodes; give their names or configuration files")


def _bytes_of(job: Job) -> tuple[bytes | Path, ...]:
    """The pictures as they travel; one that cannot be read fails where it is answered, with its name."""
    return tuple(
        image if isinstance(image, bytes) or not image.is_file() else image.read_bytes()
        for image in job.sample.images
    )


def _nothing(plan: Plan) -> Any:
    """The plan's source without its samples, which stay here."""
    return replace(plan.source, open=tuple)


def _line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2][:300]
