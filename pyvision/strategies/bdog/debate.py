"""The debate on a graph: blueprint, then rounds of proponents and opponents, until the graphs agree (Algorithm 1).

Of n debaters a side, each refines what the one before left; a side's graph is that of its last debater. The next
blueprint is the opponents' graph. The moderator answers once at the end, or in every round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyvision.strategies.bdog.answering import decide
from pyvision.strategies.bdog.graph_builder import GraphGenerator
from pyvision.strategies.bdog.graphs import Difference, Graph, difference
from pyvision.types import Answer

if TYPE_CHECKING:
    from pyvision.strategies.bdog.options import BdogOptions
    from pyvision.strategies.bdog.role_client import RoleClient


@dataclass(frozen=True, slots=True)
class Round:
    """The graphs of one round. number: counted from 1. why_last: why no other follows, or None."""

    number: int
    affirmative: Graph
    negative: Graph
    why_last: str | None = None


def debate_on_graph(options: BdogOptions, client: RoleClient) -> Answer:
    """BDoG as a whole."""
    tentative: list[Answer] = []
    for each in _rounds(options, client):
        if each.why_last or options.every_round:
            tentative.append(_moderate(client, each))
    answered = [answer for answer in tentative if answer.text is not None]
    if answered and tentative[-1].text is None:  # an earlier round's, where the last one brought none
        client.episode.note("earlier_answer", why=tentative[-1].remark or tentative[-1].end_reason)
        return answered[-1]
    return tentative[-1]


def answer_from_blueprint(options: BdogOptions, client: RoleClient) -> Answer:
    """The ablation without a debate: a graph, then the answer."""
    blueprint = _generator(options, client).generate("blueprint", Graph(), round_=0)
    question = client.question.full_text
    return decide(client, "moderator", "graph_answer", question=question, graph=blueprint.json()).answer


def _rounds(options: BdogOptions, client: RoleClient) -> Iterator[Round]:
    """Rounds until one is the last: agreed, as many as allowed, or no budget for another."""
    generator = _generator(options, client)
    blueprint = generator.generate("blueprint", Graph(), round_=0)
    for number in range(1, options.rounds + 1):
        affirmative = _side("proponent", blueprint, options, generator, number)
        negative = _side("opponent", affirmative, options, generator, number)
        changes = {"inter": difference(blueprint, negative), "intra": difference(affirmative, negative)}
        for kind, changed in changes.items():
            client.episode.note("difference", comparison=kind, round=number, **_format(changed, options))
        distance = changes[options.stop_on].distance(count_added=options.count_added)
        why_last = _why_last(options, client, number, distance if affirmative or negative else None)
        if why_last:
            client.episode.note("debate_ended", round=number, why=why_last, distance=distance)
        yield Round(number, affirmative, negative, why_last)
        if why_last:
            return
        blueprint = negative


def _generator(options: BdogOptions, client: RoleClient) -> GraphGenerator:
    return GraphGenerator(client, options.max_objects, options.choices_in_graphs)


def _side(role: str, graph: Graph, options: BdogOptions, generator: GraphGenerator, number: int) -> Graph:
    for debater in range(1, options.debaters + 1):
        if generator.client.episode.last_call():
            break  # the one reply that is left is the moderator's
        graph = generator.generate(role, graph, round_=number, debater=debater)
    return graph


def _format(changed: Difference, options: BdogOptions) -> dict[str, Any]:
    return {
        "counts": changed.counts(),
        "condensation": changed.condensation(),
        "distance": changed.distance(count_added=options.count_added),
        "paper_distance": changed.paper_distance(),
    }


def _why_last(options: BdogOptions, client: RoleClient, number: int, distance: int | None) -> str | None:
    """distance: None where there are no graphs to compare."""
    limit = client.episode.last_call()
    if limit:
        return limit
    if distance is None:
        return "no_graph"
    if options.epsilon is not None and distance <= options.epsilon:
        return "agreed"
    return "rounds" if number == options.rounds else None


def _moderate(client: RoleClient, each: Round) -> Answer:
    graphs = {"affirmative": each.affirmative.json(), "negative": each.negative.json()}
    verdict = decide(client, "moderator", "moderator", question=client.question.full_text, **graphs)
    client.episode.note("tentative_answer", round=each.number, answer=verdict.answer.text)
    return verdict.answer
