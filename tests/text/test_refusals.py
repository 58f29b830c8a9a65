"""Replies that decline as a whole, and what is left of the others without the clauses that decline."""

from __future__ import annotations

import pytest

from pyvision.text.refusals import clauses_of, declines, is_refusal


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


# --- of roles and tools

ANSWERS = (
    "I'm sorry for the confusion, but the sign says 42",
    "I'm sorry, but the sign says 42.",
    "I'm sorry, but there are only 3.",
    "I'm sorry, I count 12 circles.",
    "I'm sorry, but the bus is red.",
    "I’m sorry, but it is a lighthouse.",
    "Sorry, but no.",
    "Sorry, I misread it: the clock shows ten past four.",
    "Sorry, I made a mistake.\n```python\ndef execute_command(image) -> str:\n    return 'yes'\n```",
    "I'm sorry, but I don't see any dogs in this image.",
    "I'm sorry, but I cannot find a dog here.",
    "I'm unable to see any dogs.",
    "I cannot see a dog; the answer is no",
    "I cannot see a dog.",
    "I cannot identify the brand, but there are about 12.",
    "I cannot identify the brand and there are about twelve of them.",
    "I can't identify the exact shade, but it is probably navy blue.",
    "I can't identify him; he looks like a baker.",
    "I cannot identify the model with certainty. My best guess is a Boeing 747.",
    'I cannot identify the language, but the sign reads "Ausfahrt".',
    "I'm unable to determine the year. The answer is unknown",
    "I'm not able to tell for certain, but the answer would be blue.",
    "I can't answer with certainty, but I'd say yes.",
    "I cannot answer this from the crop alone. Yes, the light is on.",
    "I cannot provide an exact count; I estimate forty to fifty.",
    'I cannot provide precise boxes.\n[{"box": [10, 20, 30, 40], "label": "cup"}]',
    "I'm unable to be exact. \\boxed{7}",
    "I'm sorry, but I cannot be sure. <answer>left</answer>",
    "As an AI, I cannot feel it, but the answer is wool.",
    "As an AI model I read it as follows: the label says 250 ml.",
    "Unfortunately, I cannot identify the make, but the number plate is B-MW 1234.",
)
REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I’m sorry, I cannot identify people.",
    "I'm sorry, I can't assist with that request.",
    "Sorry, but I can't say.",
    "Sorry, but I can't help with identifying people or comparing faces.",
    "I cannot assist with this request.",
    "I can't help with that, but I'm happy to answer other questions.",
    "I cannot answer.",
    "I cannot answer that; please upload the image again.",
    "I won't identify the person in the picture.",
    "I will not describe this image.",
    "I'm unable to identify or describe people in images.",
    "I am not able to provide that information.",
    "I'm not able to view images.",
    "I'm unable to see any images in our conversation.",
    "I'm sorry, but I don't see any image attached.",
    "I'm sorry, but I can't see an attached picture. Please upload it.",
    "I must decline.",
    "I have to decline. It would go against my guidelines.",
    "As an AI, I have no opinion.",
    "As an AI language model, I can't answer that.",
    "Sorry, but I have no opinion on that.",
    "Sorry, but I would rather not guess.",
    "I'm sorry, but it is not possible to tell from the image.",
    "I'm sorry, but the image is too blurry to read.",
    "I'm sorry, but I can't identify people in images. However, the man appears to be wearing glasses.",
    "I'm sorry, but I can't help with identifying people. The image shows a man in a suit.",
    "I can't help with identifying people, but I can describe the image: two cars and a tree.",
    "I can't help with that. If you are in danger, call 112.",
    "I'm sorry, but I can't help with that request. Please contact the support at 555 0100.",
    "I cannot identify real people based on their appearance, but it is probably an actor.",
    "I'm sorry, but as a text model I have no access to the picture.",
    "Unfortunately, I cannot provide medical advice. Please consult a doctor.",
    "I'm sorry, I can't give an answer: this is against my rules.",
    "I can't help with that. The answer is not something I can provide.",
)


@pytest.mark.parametrize("reply", ANSWERS)
def test_a_reply_that_answers_after_a_refusal_is_a_value(reply: str) -> None:
    assert not declines(reply)


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_real_refusal_is_never_a_value(reply: str) -> None:
    assert declines(reply)


@pytest.mark.parametrize(
    "text",
    [
        "Sorry!",
        "a sorry sight",
        "I",
        "cannot",
        "The sign says: I can't help you",
        "sorry, we are closed",
        "I'm sorry",
        "",
    ],
)
def test_words_that_only_look_like_a_refusal_are_values(text: str) -> None:
    assert not declines(text)


@pytest.mark.parametrize(
    "piece", [" ", ", ", "sorry, but ", "I can't see ", "but ", "if you ", "two ", '"', "probably ", "a\t"]
)
def test_the_time_to_decide_grows_with_the_length_only(piece: str) -> None:
    """A search that is quadratic takes hours here, and ends at the time limit of the suite."""
    declines(f"I'm sorry, but {piece * 500_000}B")
