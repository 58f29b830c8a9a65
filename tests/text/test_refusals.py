"""Replies that decline as a whole, and what is left of the others without the clauses that decline."""

from __future__ import annotations

import pytest

from pyvision.text.refusals import clauses_of, is_refusal


@pytest.mark.parametrize(
    ("reply", "clauses"),
    [
        ("I cannot tell, but B is likely", ["B is likely"]),
        ("A. clear answer is not possible", []),
        ("The sign is red. I don't know the rest.", ["The sign is red."]),
    ],
)
def test_a_clause_that_declines_is_removed(reply: str, clauses: list[str]) -> None:
    assert clauses_of(reply) == clauses


@pytest.mark.parametrize("piece", [" ", ", ", ".\t", "but "])
def test_the_time_for_a_long_reply_grows_with_its_length_only(piece: str) -> None:
    """A search that is quadratic takes hours here, and ends at the time limit of the suite."""
    assert len(clauses_of(piece * 500_000 + "B")) <= 500_001


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "I'm sorry, I cannot identify people in images.",
        "Sorry, but I can't help with identifying people or comparing faces.",
        "I cannot assist with this request.",
        "Unfortunately, I am not able to provide that information.",
        "I'm unable to identify or describe people in images.",
        "I must respectfully decline.",
        "I have to decline. It would go against my guidelines.",
        "As an AI language model, I can't answer that.",
        "**I'm sorry, but I can't view the image.** Please upload it again.",
        "I apologize, but I cannot discuss this. Is there anything else I can help you with?",
        "I can't help with that, but I'm happy to answer other questions.",
        "I'm really sorry.\nI can't determine who this is.",
    ],
)
def test_a_reply_that_only_declines_is_a_refusal(reply: str) -> None:
    assert is_refusal(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot identify the brand, but there are about 12.",
        "I cannot identify the brand and there are about 12 of them.",
        "I can't identify the brand, there are about 12.",
        "No, I cannot see a dog.",
        "I cannot see a dog.",
        "I'm sorry, I count 12 circles.",
        "I'm sorry, but there are only 3.",
        "I can't tell the exact number. Roughly 40 people are in the stand.",
        "I can't identify the person. If you count the shadows: 7.",
        "I can't identify him; he looks like a baker.",
        "Sorry, no.",
        "I'm sorry",
        "Sorry! We are closed",
        "The sign says: I can't help you",
        "The man cannot help the others.",
        "12",
        "",
    ],
)
def test_a_reply_that_says_something_else_too_is_no_refusal(reply: str) -> None:
    assert not is_refusal(reply)


@pytest.mark.parametrize("piece", [" ", ", ", "sorry ", "i'm ", "I can't see ", "this ", "if you ", "a\t"])
def test_the_time_to_look_for_a_refusal_grows_with_the_length_only(piece: str) -> None:
    assert not is_refusal(piece * 500_000 + "B")
    assert not is_refusal((piece * 2_000)[:1_990] + ": 7")
