"""The planner: which of the actions that can be taken now is taken, and with which query (Algorithm 1).

A reply that names no such action, or one that would ask the same again, is asked for once more; then the first one by
the graph's preference is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyvision.agent.episode import Episode
from pyvision.strategies.avis.actions import ACTIONS, Action, purposes
from pyvision.strategies.avis.context import block
from pyvision.strategies.avis.examples import Example, shown_examples
from pyvision.strategies.avis.memory import Visit
from pyvision.strategies.avis.reply_parsing import Plan, find_plan
from pyvision.strategies.avis.role_client import Request, quoted, understood


@dataclass(frozen=True, slots=True)
class Planner:
    """pools: the examples of each action. shots: how many of each are shown. is_taken: whether a plan was carried out
    before, with the same query.
    """

    episode: Episode
    pools: Mapping[str, Sequence[Example]]
    shots: int
    is_taken: Callable[[Plan, Visit], bool]

    def plan(self, visit: Visit, feasible: Sequence[Action], context: Sequence[str]) -> Plan:
        """One of the feasible actions; there has to be one."""
        request = self._request(visit, feasible, context)
        found, repaired = understood(self.episode, request, lambda reply: self._read(reply, visit, feasible))
        plan = found or self._preferred(visit, feasible)
        by = "repair" if found and repaired else "planner" if found else "preference"
        query = _asked(plan, visit).query
        self.episode.note(
            "plan",
            state=visit.state,
            feasible=list(feasible),
            excluded=sorted(visit.excluded),
            rejected=sorted(visit.rejected),
            action=plan.action,
            query=query,
            by=by,
        )
        return Plan(plan.action, query)

    def _preferred(self, visit: Visit, feasible: Sequence[Action]) -> Plan:
        plans = [_asked(Plan(action), visit) for action in feasible]
        return next((plan for plan in plans if not self.is_taken(plan, visit)), plans[0])

    def _request(self, visit: Visit, feasible: Sequence[Action], context: Sequence[str]) -> Request:
        told = purposes()
        variables = {
            "query": visit.query,
            "part": visit.phase,
            "actions": "\n".join(f"- {name}: {told[name]}" for name in feasible),
            "examples": _examples({a: tuple(p) for a, p in self.pools.items()}, feasible, self.shots),
            "context": quoted(block("Context:", context)),
        }
        return Request("planner", "plan", variables, "plan_repair", {"names": ", ".join(feasible)})

    def _read(self, reply: str, visit: Visit, feasible: Sequence[Action]) -> Plan | str:
        plan = find_plan(reply)
        if plan is None:
            return "no single step is named in it"
        if plan.action in feasible:
            asked = _asked(plan, visit)
            is_again = self.is_taken(asked, visit)
            return f"{plan.action} was asked that before: {asked.query}" if is_again else plan
        if plan.action in visit.excluded:
            return f"{plan.action} was tried from here and brought nothing"
        return f"{plan.action} cannot be taken now"


def _asked(plan: Plan, visit: Visit) -> Plan:
    """The plan with the query that its tool will get."""
    return Plan(plan.action, (plan.query or visit.query) if ACTIONS[plan.action].takes_query else None)


def _examples(pools: Mapping[str, tuple[Example, ...]], feasible: Sequence[Action], most: int) -> str:
    text = shown_examples(pools, feasible, most)
    return f"\nWhat others did:\n\n{text}\n" if text else ""
