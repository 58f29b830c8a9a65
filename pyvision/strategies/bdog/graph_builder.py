"""Get a graph out of a role: read, asked for again where it is empty, condensed where it is too large, noted."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyvision.strategies.bdog.graphs import Graph, Repair, read_graph, truncate
from pyvision.strategies.bdog.role_client import Exchange, RoleClient
from pyvision.text.prompts import render


@dataclass(frozen=True, slots=True)
class GraphGenerator:
    """How graphs are asked for. max_objects: what the size constraint allows. with_choices: shown to debaters too."""

    client: RoleClient
    max_objects: int
    with_choices: bool

    def generate(self, role: str, fallback: Graph, *, round_: int, debater: int = 1) -> Graph:
        """The graph that a role makes of the `fallback`, which stays where it gives none.

        round_: 0 for the blueprint. Every graph is noted as `graph`, with how it came about.
        """
        known = {} if role == "blueprint" else {"graph": fallback.json()}
        question = self.client.question
        text = question.full_text if self.with_choices else question.text
        draft = _Draft(self, self.client.ask(role, role, question=text, form=self.form, **known))
        graph = draft.graph() or fallback
        self.client.episode.note(
            "graph",
            role=role,
            round=round_,
            debater=debater,
            source=" ".join(draft.steps),
            repairs=list(draft.repairs),
            graph=graph.plain(),
        )
        return graph

    @property
    def form(self) -> str:
        return render("bdog/form.md", max_objects=self.max_objects)


@dataclass(slots=True)
class _Draft:
    """One graph on its way: what was said last, and the steps that were taken."""

    generator: GraphGenerator
    exchange: Exchange
    steps: list[str] = field(default_factory=list)
    repairs: tuple[Repair, ...] = ()

    def graph(self) -> Graph | None:
        """The graph, or None where the role refused or twice drew nothing."""
        found = self._read()
        if found is None:
            return None
        if not found and not self._is_last_call:
            found = self._again("asked_again", "no_graph")
        if not found:
            self.steps.append("empty_kept")
            return None
        return self._condense(found)

    def _condense(self, graph: Graph) -> Graph:
        limit = self.generator.max_objects
        if len(graph.nodes) <= limit:
            return graph
        if not self._is_last_call:
            told = {"count": len(graph.nodes), "max_objects": limit}
            graph = self._again("condensed", "condense", **told) or graph
        if len(graph.nodes) <= limit:
            return graph
        self.steps.append("cut")
        return truncate(graph, limit)

    def _again(self, step: str, prompt: str, **variables: object) -> Graph | None:
        self.steps.append(step)
        form = self.generator.form
        self.exchange = self.generator.client.follow(self.exchange, prompt, form=form, **variables)
        return self._read()

    def _read(self) -> Graph | None:
        if self.exchange.reply.finish == "refusal":
            self.steps.append("refused_kept")
            return None
        graph, self.repairs = read_graph(self.exchange.reply.text)
        self.steps.append("read")
        return graph

    @property
    def _is_last_call(self) -> bool:
        return self.generator.client.episode.last_call() is not None
