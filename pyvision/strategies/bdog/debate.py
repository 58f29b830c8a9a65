"""The debate on a graph: blueprint, then rounds of proponents and opponents, until the graphs agree (Algorithm 1).

Of n debaters a side, each refines the graph of the one before; a side's graph is that of its last debater. The next
blueprint is the opponents' graph. The moderator answers once at the end, or in every round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pyvision.agent.asking import RoleTurn
from pyvision.agent.strategy import check_least
from pyvision.errors import ConfigError
from pyvision.strategies.bdog.graphs import Graph, GraphDifference, Repair, difference, read_graph, truncate
from pyvision.strategies.bdog.roles import RoleClient, decide
from pyvision.text.prompts import render
from pyvision.types import Answer

Personality = Literal["none", "surveyor", "doubter", "reader"]  # the files of prompts/bdog/personalities
Mode = Literal["bdog", "debate_only", "graph_only", "plain", "self_correction", "majority_vote"]


@dataclass(frozen=True, slots=True)
class BdogOptions:
    """The fields of `--set` for this strategy.

    epsilon: the distance of graphs at which a debate ends; none: all rounds are run, as in the released code.
    stop_on: the distance between the blueprint and the next one (`inter`, equation 6), or between the two sides
    (`intra`, Algorithm 1). count_added: additions count as distance too; the paper names only updates and deletions,
    and then a debate ends while its graph is still growing. choices_in_graphs: debaters see the choices; without
    them, the paper's appendix C.3 reports 2.4 to 3.4 points more for its small model. every_round: the moderator is
    asked after every round, not only at the end. max_objects: the paper's 20; its code says 3. Personalities are on as
    in the paper's appendix A.4, which does not say who has which; `none` leaves one out, as the released code does.
    """

    mode: Mode = "bdog"
    rounds: int = 3
    debaters: int = 1  # on each side
    epsilon: float | None = 0.0
    stop_on: Literal["inter", "intra"] = "inter"
    count_added: bool = True
    max_objects: int = 20
    choices_in_graphs: bool = False
    every_round: bool = False
    blueprint_personality: Personality = "none"
    proponent_personality: Personality = "surveyor"
    opponent_personality: Personality = "doubter"
    moderator_personality: Personality = "reader"

    def __post_init__(self) -> None:
        check_least(self, rounds=1, debaters=1, max_objects=1)
        if self.epsilon is not None and not self.epsilon >= 0:
            raise ConfigError(
                f"option epsilon is {self.epsilon}; it must be a distance of 0 or more, or none"
            )

    @property
    def calls(self) -> int:
        """How many replies a debate of all rounds takes if none of them needs a repair."""
        return 1 + 2 * self.debaters * self.rounds + (self.rounds if self.every_round else 1)


def debate_on_graph(options: BdogOptions, client: RoleClient) -> Answer:
    """The whole method."""
    tentative: list[Answer] = []
    for each in _rounds(options, client):
        if each.why_last or options.every_round:
            tentative.append(_moderate(client, each))
    answered = [answer for answer in tentative if answer.text is not None]
    if answered and tentative[-1].text is None:  # use an earlier round's if the last one brought none
        client.episode.note("earlier_answer", why=tentative[-1].remark or tentative[-1].end_reason)
        return answered[-1]
    return tentative[-1]


def answer_from_blueprint(options: BdogOptions, client: RoleClient) -> Answer:
    """The ablation without a debate: a graph, then the answer."""
    blueprint = _generator(options, client).generate("blueprint", Graph(), round_=0)
    question = client.question.full_text
    return decide(client, "moderator", "graph_answer", question=question, graph=blueprint.json()).answer


@dataclass(frozen=True, slots=True)
class _Round:
    """The graphs of one round. number: counted from 1. why_last: why no other round follows, or None."""

    number: int
    affirmative: Graph
    negative: Graph
    why_last: str | None = None


def _rounds(options: BdogOptions, client: RoleClient) -> Iterator[_Round]:
    """Rounds until the graphs agree, the maximum is reached, or the budget allows no other."""
    generator = _generator(options, client)
    blueprint = generator.generate("blueprint", Graph(), round_=0)
    for number in range(1, options.rounds + 1):
        affirmative = _side("proponent", blueprint, options, generator, number)
        if _agrees(options, blueprint, affirmative):
            client.episode.note("skipped", role="opponent", round=number, why="the proponent changed nothing")
            negative = affirmative
        else:
            negative = _side("opponent", affirmative, options, generator, number)
        changes = {"inter": difference(blueprint, negative), "intra": difference(affirmative, negative)}
        for kind, changed in changes.items():
            client.episode.note("difference", comparison=kind, round=number, **_plain(changed, options))
        distance = changes[options.stop_on].distance(count_added=options.count_added)
        why_last = _why_last(options, client, number, distance if affirmative or negative else None)
        if why_last:
            client.episode.note("debate_ended", round=number, why=why_last, distance=distance)
        yield _Round(number, affirmative, negative, why_last)
        if why_last:
            return
        blueprint = negative


def _agrees(options: BdogOptions, blueprint: Graph, affirmative: Graph) -> bool:
    """Whether the proponent accepts the graph that it was given (Algorithm 1: the graphs of both sides are equal)."""
    gave_none = affirmative is blueprint  # it refused, or wrote no graph: the one it was given stays
    if options.epsilon is None or not affirmative or gave_none:
        return False
    return difference(blueprint, affirmative).distance(count_added=options.count_added) <= options.epsilon


def _generator(options: BdogOptions, client: RoleClient) -> GraphGenerator:
    return GraphGenerator(client, options.max_objects, options.choices_in_graphs)


def _side(role: str, graph: Graph, options: BdogOptions, generator: GraphGenerator, number: int) -> Graph:
    for debater in range(1, options.debaters + 1):
        if generator.client.episode.last_call():
            break  # the one reply that is left is the moderator's
        graph = generator.generate(role, graph, round_=number, debater=debater)
    return graph


def _plain(changed: GraphDifference, options: BdogOptions) -> dict[str, Any]:
    return {
        "counts": changed.counts(),
        "condensation": changed.condensation(),
        "distance": changed.distance(count_added=options.count_added),
        "paper_distance": changed.paper_distance(),
    }


def _why_last(options: BdogOptions, client: RoleClient, number: int, distance: int | None) -> str | None:
    """distance: None if there are no graphs to compare."""
    limit = client.episode.last_call()
    if limit:
        return limit
    if distance is None:
        return "no_graph"
    if options.epsilon is not None and distance <= options.epsilon:
        return "agreed"
    return "rounds" if number == options.rounds else None


def _moderate(client: RoleClient, each: _Round) -> Answer:
    graphs = {"affirmative": each.affirmative.json(), "negative": each.negative.json()}
    answer = decide(client, "moderator", "moderator", question=client.question.full_text, **graphs).answer
    client.episode.note("tentative_answer", round=each.number, answer=answer.text)
    return answer


@dataclass(frozen=True, slots=True)
class GraphGenerator:
    """Asks roles for graphs. max_objects: the size limit. with_choices: whether debaters see the choices."""

    client: RoleClient
    max_objects: int
    with_choices: bool

    def generate(self, role: str, fallback: Graph, *, round_: int, debater: int = 1) -> Graph:
        """The graph that a role makes of the `fallback`, or the `fallback` itself if the role gives none.

        round_: 0 for the blueprint. Every graph is noted as `graph`, with the steps that led to it.
        """
        known = {} if role == "blueprint" else {"graph": fallback.json()}
        question = self.client.question
        text = question.full_text if self.with_choices else question.text
        draft = _Draft(self, self.client.ask(role, role, question=text, form=self.form, **known))
        graph = draft.graph() or fallback
        made = {"role": role, "round": round_, "debater": debater, "graph": graph.plain()}
        episode = self.client.episode
        episode.note("graph", **made, source=" ".join(draft.steps), repairs=list(draft.repairs))
        episode.keep_finding("graphs", [*episode.findings.get("graphs", ()), made])
        return graph

    @property
    def form(self) -> str:
        return render("bdog/form.md", max_objects=self.max_objects)


@dataclass(slots=True)
class _Draft:
    """One graph in the making: the last turn of the role, and the steps taken."""

    generator: GraphGenerator
    turn: RoleTurn
    steps: list[str] = field(default_factory=list)
    repairs: tuple[Repair, ...] = ()

    def graph(self) -> Graph | None:
        """The graph, or None if the role refused or twice gave an empty one."""
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
            sizes = {"count": len(graph.nodes), "max_objects": limit}
            graph = self._again("condensed", "condense", **sizes) or graph
        if len(graph.nodes) <= limit:
            return graph
        self.steps.append("cut")
        return truncate(graph, limit)

    def _again(self, step: str, prompt: str, **variables: object) -> Graph | None:
        self.steps.append(step)
        form = self.generator.form
        self.turn = self.generator.client.follow(self.turn, prompt, form=form, **variables)
        return self._read()

    def _read(self) -> Graph | None:
        if self.turn.reply.finish == "refusal":
            self.steps.append("refused_kept")
            return None
        graph, self.repairs = read_graph(self.turn.reply.text)
        self.steps.append("read")
        return graph

    @property
    def _is_last_call(self) -> bool:
        return self.generator.client.episode.last_call() is not None
