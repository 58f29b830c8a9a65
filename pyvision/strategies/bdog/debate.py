"""The debate on a graph: blueprint, then rounds of proponents and opponents, until the graphs agree (Algorithm 1).

Of n debaters a side, each refines what the one before left; a side's graph is that of its last debater. The next
blueprint is the opponents' graph. The moderator answers once at the end, or in every round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyvision.strategies.bdog.answering import decide
from pyvision.strategies.bdog.graph_builder import Draughting
from pyvision.strategies.bdog.graphs import Difference, Graph, difference
from pyvision.types import Answer

if TYPE_CHECKING:
    from pyvision.strategies.bdog.options import BdogOptions
    from pyvision.strategies.bdog.role_client import Asking


@dataclass(frozen=True, slots=True)
class Round:
    """The graphs of one round. number: counted from 1. why_last: why no other follows, or None."""

    number: int
    affirmative: Graph
    negative: Graph
    why_last: str | None = None


def debate_on_graph(options: BdogOptions, asking: Asking) -> Answer:
    """BDoG as a whole."""
    tentative: list[Answer] = []
    for each in _rounds(options, asking):
        if each.why_last or options.every_round:
            tentative.append(_moderated(asking, each))
    answered = [answer for answer in tentative if answer.text is not None]
    if answered and tentative[-1].text is None:  # an earlier round's, where the last one brought none
        asking.episode.note("earlier_answer", why=tentative[-1].remark or tentative[-1].end_reason)
        return answered[-1]
    return tentative[-1]


def answer_from_blueprint(options: BdogOptions, asking: Asking) -> Answer:
    """The ablation without a debate: a graph, then the answer."""
    blueprint = _draughting(options, asking).draw("blueprint", Graph(), round_=0)
    question = asking.question.full_text
    return decide(asking, "moderator", "graph_answer", question=question, graph=blueprint.json()).answer


def _rounds(options: BdogOptions, asking: Asking) -> Iterator[Round]:
    """Rounds until one is the last: agreed, as many as allowed, or no budget for another."""
    draughting = _draughting(options, asking)
    blueprint = draughting.draw("blueprint", Graph(), round_=0)
    for number in range(1, options.rounds + 1):
        affirmative = _side("proponent", blueprint, options, draughting, number)
        negative = _side("opponent", affirmative, options, draughting, number)
        changes = {"inter": difference(blueprint, negative), "intra": difference(affirmative, negative)}
        for kind, changed in changes.items():
            asking.episode.note("difference", comparison=kind, round=number, **_told(changed, options))
        distance = changes[options.stop_on].distance(count_added=options.count_added)
        why_last = _why_last(options, asking, number, distance if affirmative or negative else None)
        if why_last:
            asking.episode.note("debate_ended", round=number, why=why_last, distance=distance)
        yield Round(number, affirmative, negative, why_last)
        if why_last:
            return
        blueprint = negative


def _draughting(options: BdogOptions, asking: Asking) -> Draughting:
    return Draughting(asking, options.max_objects, options.choices_in_graphs)


def _side(role: str, graph: Graph, options: BdogOptions, draughting: Draughting, number: int) -> Graph:
    for debater in range(1, options.debaters + 1):
        if draughting.asking.episode.last_call():
            break  # the one reply that is left is the moderator's
        graph = draughting.draw(role, graph, round_=number, debater=debater)
    return graph


def _told(changed: Difference, options: BdogOptions) -> dict[str, Any]:
    return {
        "counts": changed.counts(),
        "condensation": changed.condensation(),
        "distance": changed.distance(count_added=options.count_added),
        "paper_distance": changed.paper_distance(),
    }


def _why_last(options: BdogOptions, asking: Asking, number: int, distance: int | None) -> str | None:
    """distance: None where there are no graphs to compare."""
    limit = asking.episode.last_call()
    if limit:
        return limit
    if distance is None:
        return "no_graph"
    if options.epsilon is not None and distance <= options.epsilon:
        return "agreed"
    return "rounds" if number == options.rounds else None


def _moderated(asking: Asking, each: Round) -> Answer:
    graphs = {"affirmative": each.affirmative.json(), "negative": each.negative.json()}
    verdict = decide(asking, "moderator", "moderator", question=asking.question.full_text, **graphs)
    asking.episode.note("tentative_answer", round=each.number, answer=verdict.answer.text)
    return verdict.answer
