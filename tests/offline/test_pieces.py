from __future__ import annotations

from pyvision.offline.pieces import collect_needed

SHARED = """
import json
import math

LIMIT = 3


def inner(x):
    return min(x, LIMIT)


def outer(x):
    return inner(x) + 1


def other(turn):
    return json.dumps(turn)


def turn(x):
    return math.tau
"""


def test_a_method_gets_what_it_uses_and_what_that_uses() -> None:
    kept = collect_needed(SHARED, "print(outer(2))")
    assert "LIMIT = 3" in kept
    assert "def inner" in kept
    assert "def outer" in kept
    assert "other" not in kept
    assert "import" not in kept


def test_what_is_kept_runs_and_stays_in_order() -> None:
    space: dict[str, object] = {}
    exec(collect_needed(SHARED, "outer") + "\nresult = outer(9)", space)
    assert space["result"] == 4


def test_a_parameter_of_the_same_name_is_no_use_of_a_function() -> None:
    kept = collect_needed(SHARED, "other(1)")
    assert "import json" in kept
    assert "def turn" not in kept
