"""Over a cluster of two nodes on this machine. Skipped where ray is not installed; `make test-ray` installs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pyvision.bench.runner import run
from pyvision.bench.runner.answering import Job
from pyvision.bench.runner.plan import Plan
from pyvision.bench.runner.ray import open_ray
from pyvision.errors import ConfigError, MissingExtra
from tests.bench.runs import Knowing, Quiet, a_plan, a_sample, contents, made, records_in, source_of
from tests.doubles import png

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray, an optional extra, is not installed: make test-ray"
)


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_its_extra_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        MissingExtra, match=r"ray is not installed; install it: pip install 'pyvision-agent\[ray\]'"
    ):
        run.run(a_plan(tmp_path, made(1), "offline", engine="ray"), Quiet())


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes; the second can be removed."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_module("ray")
    cluster = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def a_slow_plan(tmp_path: Path, count: int, engine: str) -> Plan:
    """Each sample runs a cell of a second's length, by a model that is built from a file."""
    config = tmp_path / "model.json"
    cell = "<code>\n```python\nimport time; time.sleep(1)\n```\n"
    replies = [cell, "<answer>\\boxed{A}</answer>"] * 100
    config.write_text(json.dumps({"wire": "scripted", "replies": replies}), encoding="utf-8")
    samples = source_of(*(a_sample(number, target="A") for number in range(count)))
    settings = {"strategy": "code_loop", "config": str(config)}
    return Plan(samples, settings, workers=2, folder=tmp_path / engine, engine=engine)


@needs_ray
def test_a_cluster_gives_what_threads_give(tmp_path: Path, cluster: Any) -> None:
    (tmp_path / "photo.png").write_bytes(png(64, 48, "navy"))
    source = source_of(*(a_sample(number, images=(tmp_path / "photo.png",)) for number in range(4)))
    settings = {"strategy": "direct", "model": "offline"}
    for engine in ("ray", "threads"):
        run.run(Plan(source, settings, folder=tmp_path / engine, engine=engine), Quiet())
    assert contents(tmp_path / "ray") == contents(tmp_path / "threads")


@needs_ray
def test_the_samples_of_a_lost_node_run_elsewhere(tmp_path: Path, cluster: Any) -> None:
    watcher = Quiet()

    def lose_one() -> None:
        if len(watcher.shown) == 2:
            cluster.remove_node(next(iter(cluster.worker_nodes)))

    watcher.when_shown = lose_one
    run.run(a_slow_plan(tmp_path, 8, "ray"), watcher)
    assert len(records_in(tmp_path / "ray")) == 8


@needs_ray
def test_a_station_that_is_killed_is_replaced(tmp_path: Path, cluster: Any) -> None:
    plan = a_slow_plan(tmp_path, 6, "ray")
    ray = import_module("ray")
    with open_ray(plan) as engine:
        found: list[str] = []
        for ended in engine.answer(
            (Job(sample, 0) for sample in plan.samples()), lambda finished: finished.job.sample.id
        ):
            found.extend(ended)
            if len(found) == 1:
                for context in tuple(engine._contexts.values()):  # as the machine would end them
                    ray.kill(context)
    assert sorted(found) == [f"sample {number}" for number in range(6)]


@needs_ray
def test_a_model_that_is_an_object_cannot_travel(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, made(1), Knowing(), engine="ray")
    with pytest.raises(ConfigError, match="builds models on the nodes"):
        run.run(plan, Quiet())
