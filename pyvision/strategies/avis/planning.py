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
from pyvision.strategies.avis.examples import Example, examples_to_show
from pyvision.strategies.avis.memory import Node
from pyvision.strategies.avis.reply_parsing import Plan, find_plan
from pyvision.strategies.avis.role_client import Request, parse_or_retry, sanitize_quote


@dataclass(frozen=True, slots=True)
class Planner:
    """pools: the examples of each action. shots: how many of each are shown. is_taken: whether a plan was carried out
    before, with the same query.
    """

    episode: Episode
    pools: Mapping[str, Sequence[Example]]
    shots: int
    is_taken: Callable[[Plan, Node], bool]

    def plan(self, node: Node, feasible: Sequence[Action], context: Sequence[str]) -> Plan:
        """One of the feasible actions; there has to be one."""
        request = self._request(node, feasible, context)
        found, repaired = parse_or_retry(
            self.episode, request, lambda reply: self._read(reply, node, feasible)
        )
        plan = found or self._preferred(node, feasible)
        by = "repair" if found and repaired else "planner" if found else "preference"
        query = _ask(plan, node).query
        self.episode.note(
            "plan",
            state=node.state,
            feasible=list(feasible),
            excluded=sorted(node.excluded),
            rejected=sorted(node.rejected),
            action=plan.action,
            query=query,
            by=by,
        )
        return Plan(plan.action, query)

    def _preferred(self, node: Node, feasible: Sequence[Action]) -> Plan:
        plans = [_ask(Plan(action), node) for action in feasible]
        return next((plan for plan in plans if not self.is_taken(plan, node)), plans[0])

    def _request(self, node: Node, feasible: Sequence[Action], context: Sequence[str]) -> Request:
        told = purposes()
        variables = {
            "query": node.query,
            "part": node.phase,
            "actions": "\n".join(f"- {name}: {told[name]}" for name in feasible),
            "examples": _examples({a: tuple(p) for a, p in self.pools.items()}, feasible, self.shots),
            "context": sanitize_quote(block("Context:", context)),
        }
        return Request("planner", "plan", variables, "plan_repair", {"names": ", ".join(feasible)})

    def _read(self, reply: str, node: Node, feasible: Sequence[Action]) -> Plan | str:
        plan = find_plan(reply)
        if plan is None:
            return "no single step is named in it"
        if plan.action in feasible:
            asked = _ask(plan, node)
            is_again = self.is_taken(asked, node)
            return f"{plan.action} was asked that before: {asked.query}" if is_again else plan
        if plan.action in node.excluded:
            return f"{plan.action} was tried from here and brought nothing"
        return f"{plan.action} cannot be taken now"


def _ask(plan: Plan, node: Node) -> Plan:
    """The plan with the query that its tool will get."""
    return Plan(plan.action, (plan.query or node.query) if ACTIONS[plan.action].takes_query else None)


def _examples(pools: Mapping[str, tuple[Example, ...]], feasible: Sequence[Action], most: int) -> str:
    text = examples_to_show(pools, feasible, most)
    return f"\nWhat others did:\n\n{text}\n" if text else ""
