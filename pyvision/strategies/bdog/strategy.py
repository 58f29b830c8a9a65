"""The BDoG strategy and the baselines that it is compared with; `mode` chooses between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from pyvision.agent.episode import Episode
from pyvision.strategies.bdog.debate import BdogOptions, Mode, answer_from_blueprint, debate_on_graph
from pyvision.strategies.bdog.roles import (
    Decision,
    RoleClient,
    decide,
    decide_from,
    format_ending,
    parse_choices,
)
from pyvision.text.replies import without_thinking
from pyvision.types import Answer, Question

_NOTHING_YET = "(nothing yet)"
_SIDES = {"proponent": "affirmative", "opponent": "negative"}


@dataclass(frozen=True, slots=True)
class Bdog(BdogOptions):
    """Blueprint debate on graph (arXiv 2403.14972), and its ablations as modes."""

    continues: ClassVar[bool] = False
    runs_code: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ("blueprint", "proponent", "opponent", "moderator", "solver")
    tools: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError for a question with more than 26 choices."""
        personalities = {role: getattr(self, f"{role}_personality", "none") for role in self.roles}
        client = RoleClient(parse_choices(question), question.images, episode, personalities)
        if not question.images:
            episode.note("no_image", why="the question has no image; the roles are asked without one")
        if not client.question.choices:
            episode.note("no_choices", why="no choices were given or listed; the answer is free text")
        return _MODES[self.mode](self, client)


def _plain(options: BdogOptions, client: RoleClient) -> Answer:
    """One call."""
    return _solve(client).answer


def _debate_only(options: BdogOptions, client: RoleClient) -> Answer:
    """Like the debate on a graph, but with free text: the same roles, calls and order, always all rounds."""
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


def _self_correction(options: BdogOptions, client: RoleClient) -> Answer:
    """One answer, which the same role reconsiders in the same conversation, once for every round of a debate."""
    decision = _solve(client)
    for number in range(1, options.rounds + 1):
        if decision.turn.reply.finish == "refusal" or client.episode.last_call():
            break
        client.episode.note("tentative_answer", round=number - 1, answer=decision.answer.text)
        turn = client.follow(decision.turn, "reconsider", ending=format_ending(client.question))
        after = decide_from(client, turn)
        decision = Decision(after.answer if after.answer.text else decision.answer, after.turn)
    return decision.answer


def _majority_vote(options: BdogOptions, client: RoleClient) -> Answer:
    """The most frequent answer of as many calls as a whole debate makes; in a tie, the one that came first.

    It differs from one call only if the replies differ, as those of a model that samples do.
    """
    votes: Counter[str] = Counter()
    for number in range(1, options.calls + 1):
        is_last = number == options.calls or client.episode.last_call() is not None
        answer = _solve(client).answer
        client.episode.note("vote", number=number, answer=answer.text)
        votes.update([" ".join(answer.text.split())] if answer.text is not None else [])
        if is_last or answer.end_reason == "refused":
            break
    return Answer(max(votes, key=lambda text: votes[text])) if votes else answer


def _solve(client: RoleClient) -> Decision:
    return decide(client, "solver", "plain", question=client.question.full_text)


def _opinion(client: RoleClient, role: str, other: str, own: str) -> str:
    """The role's new opinion, or its last one if the reply is a refusal or empty."""
    question = client.question.full_text
    reply = client.ask(role, "opinion", side=_SIDES[role], question=question, other=other).reply
    if reply.finish == "refusal":
        client.episode.note("refused", role=role, why=reply.text)
        return own
    return without_thinking(reply.text).strip() or own


def _moderate(client: RoleClient, opinions: dict[str, str], number: int) -> Decision:
    sides = {side: opinions[role] for role, side in _SIDES.items()}
    decision = decide(client, "moderator", "opinions_answer", question=client.question.full_text, **sides)
    client.episode.note("tentative_answer", round=number, answer=decision.answer.text)
    return decision


_MODES: Mapping[Mode, Callable[[BdogOptions, RoleClient], Answer]] = {
    "bdog": debate_on_graph,
    "debate_only": _debate_only,
    "graph_only": answer_from_blueprint,
    "plain": _plain,
    "self_correction": _self_correction,
    "majority_vote": _majority_vote,
}
