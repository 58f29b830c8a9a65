"""The strategy; its option `mode` chooses the debate or one of the baselines that it is measured against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from pyvision.agent.episode import Episode
from pyvision.strategies.bdog.debate import BdogOptions, Mode, answer_from_blueprint, debate_on_graph
from pyvision.strategies.bdog.roles import RoleClient, Verdict, decide, ending, parse_choices, settle
from pyvision.text.replies import without_thinking
from pyvision.types import Answer, Question


@dataclass(frozen=True, slots=True)
class Bdog(BdogOptions):
    """Blueprint debate on graph (arXiv 2403.14972), and its ablations as modes."""

    continues: ClassVar[bool] = False
    runs_code: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ("blueprint", "proponent", "opponent", "moderator", "solver")
    tools: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError for a question of more than 26 choices."""
        personalities = {role: getattr(self, f"{role}_personality", "none") for role in self.roles}
        client = RoleClient(parse_choices(question), question.images, episode, personalities)
        if not question.images:
            episode.note("no_image", why="the question has no image; the roles are asked without one")
        if not client.question.choices:
            episode.note("no_choices", why="no choices were given or listed; the answer is free text")
        return _MODES[self.mode](self, client)


# ---- What the debate on a graph is measured against: opinions in place of graphs, one call, and more calls of one kind.


_NOTHING_YET = "(nothing yet)"
_SIDES = {"proponent": "affirmative", "opponent": "negative"}


def plain(options: BdogOptions, client: RoleClient) -> Answer:
    """One call."""
    return _solved(client).answer


def debate_of_opinions(options: BdogOptions, client: RoleClient) -> Answer:
    """As the debate on a graph, with free text in place of graphs: the same roles, calls and order, all rounds."""
    opinions = dict.fromkeys(_SIDES, _NOTHING_YET)
    for number in range(1, options.rounds + 1):
        for role, other in (("proponent", "opponent"), ("opponent", "proponent")):
            for debater in range(1, options.debaters + 1):
                if client.episode.last_call():
                    break  # the one reply that is left is the moderator's
                opinions[role] = _opinion(client, role, opinions[other], opinions[role])
                client.episode.note("opinion", role=role, round=number, debater=debater, said=opinions[role])
        if options.every_round and number < options.rounds and not client.episode.last_call():
            _moderate(client, opinions, number)
    return _moderate(client, opinions, options.rounds).answer


def self_correction(options: BdogOptions, client: RoleClient) -> Answer:
    """One answer, reconsidered by the same role in the same conversation, once for every round of a debate."""
    verdict = _solved(client)
    for number in range(1, options.rounds + 1):
        if verdict.exchange.reply.finish == "refusal" or client.episode.last_call():
            break
        client.episode.note("tentative_answer", round=number - 1, answer=verdict.answer.text)
        exchange = client.follow(verdict.exchange, "reconsider", ending=ending(client.question))
        after = settle(client, exchange)
        verdict = Verdict(after.answer if after.answer.text else verdict.answer, after.exchange)
    return verdict.answer


def majority_vote(options: BdogOptions, client: RoleClient) -> Answer:
    """The most frequent answer of as many calls as a whole debate makes; of equals, the one that came first.

    Says something only where the replies differ: with a model that samples.
    """
    votes: Counter[str] = Counter()
    for number in range(1, options.calls + 1):
        is_last = number == options.calls or client.episode.last_call() is not None
        answer = _solved(client).answer
        client.episode.note("vote", number=number, answer=answer.text)
        votes.update([" ".join(answer.text.split())] if answer.text is not None else [])
        if is_last or answer.end_reason == "refused":
            break
    return Answer(max(votes, key=lambda text: votes[text])) if votes else answer


def _solved(client: RoleClient) -> Verdict:
    return decide(client, "solver", "plain", question=client.question.full_text)


def _opinion(client: RoleClient, role: str, other: str, own: str) -> str:
    """What the role says now; what it said before, where it refuses or says nothing."""
    question = client.question.full_text
    reply = client.ask(role, "opinion", side=_SIDES[role], question=question, other=other).reply
    if reply.finish == "refusal":
        client.episode.note("refused", role=role, why=reply.text)
        return own
    return without_thinking(reply.text).strip() or own


def _moderate(client: RoleClient, opinions: dict[str, str], number: int) -> Verdict:
    told = {side: opinions[role] for role, side in _SIDES.items()}
    verdict = decide(client, "moderator", "opinions_answer", question=client.question.full_text, **told)
    client.episode.note("tentative_answer", round=number, answer=verdict.answer.text)
    return verdict


_MODES: Mapping[Mode, Callable[[BdogOptions, RoleClient], Answer]] = {
    "bdog": debate_on_graph,
    "debate_only": debate_of_opinions,
    "graph_only": answer_from_blueprint,
    "plain": plain,
    "self_correction": self_correction,
    "majority_vote": majority_vote,
}
