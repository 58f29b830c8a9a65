"""Debate NLVR samples: their scenes become graphs, scripted debaters err in them, and the moderator in its judgement.

Nothing here reads the statements: the moderator of the script knows the target and gets it wrong at its rate. What this
shows is that every sample goes through the debate with its own image, question and graphs, and comes to an answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.worlds.debates.modes import NoSandbox
from pyvision.events import Event
from pyvision.experiments.bdog_analysis.statistics import Share
from pyvision.images.read import read
from pyvision.models.streaming import in_one_piece
from pyvision.runs.report.debates import Record, record
from pyvision.solve import Task, solve
from pyvision.strategies.bdog import Bdog
from pyvision.strategies.bdog.graphs import Edge, Graph, Node
from pyvision.types import Message, Question, Reply, Sampling


@dataclass(frozen=True, slots=True)
class SceneReader:
    """The scripted model: draws the sample's scene, leaving out each item at a rate, and answers."""

    sample: Mapping[str, Any]
    error: float = 0.1

    @property
    def name(self) -> str:
        return "scene-reader"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        prompt = messages[-1].text
        rng = random.Random(f"{self.sample['id']} {prompt}")
        if r"\boxed" not in prompt:
            graph = scene_graph(self.sample["scene"])
            kept = graph.only({node.id for node in graph.nodes if rng.random() >= self.error})
            return Reply(f"```json\n{kept.json()}\n```")
        target = str(self.sample["target"])
        other = "false" if target == "true" else "true"
        return Reply(rf"\boxed{{{other if rng.random() < self.error else target}}}")

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield from in_one_piece(self.complete(messages, sampling))


def scene_graph(boxes: Sequence[Sequence[Mapping[str, Any]]]) -> Graph:
    """The exact graph of a sample: a node for each grey box, one for each item in it, and an edge between them."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for place, items in enumerate(boxes, start=1):
        nodes.append(Node(f"box{place}", f"box {place}"))
        for number, item in enumerate(items, start=1):
            identity = f"item{place}.{number}"
            pairs = tuple((key, str(item[key])) for key in ("color", "size", "x_loc", "y_loc"))
            nodes.append(Node(identity, str(item["type"]), pairs))
            edges.append(Edge(identity, f"box{place}", "in"))
    return Graph(tuple(nodes), tuple(edges))


def play_samples(folder: Path) -> str:
    """Debate every sample of the folder (samples.jsonl, with images beside it); what came of it, in a few lines."""
    lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [json.loads(line) for line in lines if line.strip()]
    records = [play_sample(folder, sample) for sample in samples]
    right = Share(sum(r.answer == r.target for r in records), len(records))
    drawn = [each for r in records for each in r.drawn]
    condensed = sum("condensed" in each.source for each in drawn)
    ends = sorted({str(r.end_reason) for r in records})
    return (
        f"NLVR, {len(records)} samples, scripted debaters: ended {', '.join(ends)}; {len(drawn)} graphs, {condensed} "
        f"condensed to 20 nodes; right (the script's own rate) {right}"
    )


def play_sample(folder: Path, sample: Mapping[str, Any]) -> Record:
    """One sample through the debate, with its image."""
    events: list[Event] = []
    question = Question(sample["question"], tuple(read(folder / image) for image in sample["images"]))
    solve(Task(question, Bdog(), {"default": SceneReader(sample)}), events.append, NoSandbox())
    return record(sample["id"], events, target=str(sample["target"]))
