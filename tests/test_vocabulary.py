"""The words of the old vocabulary do not come back: what remains of them is listed here with its reason."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.measure_structure import class_names, old_names, old_phrases, participles

TESTS = Path(__file__).parent

NAMES = {
    "words": "of a text or a command line",
    "exchange": "a question of a chat with its answer",
    "Exchange": "the same",
    "marks": "of a critic in a program, as in the paper",
    "shown": 'the unit "shown" of boxes, as prompts and cells name it',
    "station": "of a map in a generated set",
    "is_open": "of a socket or a code block",
    "kept": "replies that a benchmark keeps; nodes that a debate keeps",
    "looks": "of a visual program at parts of the image",
    "wait_s": "a field of a recorded event",
    "fatal": "an error that ends a benchmark",
    "stragglers": "a field of recorded results",
    "canary": "a resource planted to detect that it is touched",
    "trace_steps": "a field of recorded policies",
    "said": "a key of recorded notes",
}
PHRASES = {
    "floor": "`math.floor`, and the floor of a room",
    "arms": "a coat of arms",
    "donors": "a key of recorded experiments, and the former name of a flag",
    "of its own": "before a noun, as in `the status of its own session`",
}
CLASSES = {
    "Closing": "the sandbox stands alone",
    "ImageError": "the same, and PyVision's own",
    "Region": "in the guest and on the host",
    "RoleClient": "of two strategies",
    "Sandbox": "the class, and the protocol that a strategy needs",
    "Session": "the same",
}


def test_identifiers_use_the_terms_of_the_field() -> None:
    assert set(old_names()) - NAMES.keys() == set()


def test_text_uses_the_terms_of_the_field() -> None:
    assert set(old_phrases()) - PHRASES.keys() == set()


def test_functions_are_named_by_verbs() -> None:
    assert set(participles()) - {"cut", "put", "set"} == set()  # which are infinitives too


def test_a_class_name_means_one_thing() -> None:
    assert {name for name, count in class_names().items() if count > 1} == CLASSES.keys()


def test_a_test_states_one_promise() -> None:
    names = [
        name for path in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())
    ]
    assert [name for name in names if "_and_" in name] == []
