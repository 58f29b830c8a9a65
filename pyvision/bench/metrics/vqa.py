r"""VQA accuracy with its normalisation: the metric of VQA v2 and OK-VQA, and the exact match built on it.

`target`: the answers of the annotators (ten, in both datasets), or one text. A list of fewer than four, and one text,
give 1 when any of them matches: with one left out, a full score would be impossible.

Flavours; all see the content of a \boxed{} when there is one
* official: VQA's evaluation. Per annotator min(1, matches among the others / 3), then the mean. Answers are normalised
  only when the annotators' are not all equal; a full stop goes unless a digit follows it ("5." becomes "5").
* vlmevalkit: the same mean, always normalised; a full stop behind a digit stays ("5." stays "5.").
* paper: as ViperGPT's and VDebugger's code normalise, the answer alone, the truth as it stands; min(1, matches / 3)
  over all annotators, as the AVIS paper (section on OK-VQA) gives the metric. That they combine so was not verified.

* official (of textvqa): the same mean with the normalisation of TextVQA's evaluation (`m4c_evaluators` of mmf), which
  first removes commas and question marks and cuts off "'s"; always normalised.

Kept from the original: `re.UNICODE` is handed to `sub` as its count, so only the first 32 full stops are looked at;
`somebody'd` loses its apostrophe; "none" is the number 0; an answer of articles and punctuation alone ("A", "-") equals
every other such answer. Not kept: a blank answer is never right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from pyvision.bench.metrics.numbers import UP_TO_TWENTY
from pyvision.bench.metrics.registry import score_equality, target_texts, unwrap_box
from pyvision.bench.samples import Sample, Score

_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_DIGIT_COMMA = re.compile(r"\d,\d")
_STOP_BEFORE_NO_DIGIT = re.compile(r"\.(?!\d)")
_STOP_AWAY_FROM_DIGITS = re.compile(r"(?<!\d)\.(?!\d)")
_MOST_STOPS = int(re.UNICODE)
_DIGITS = {word: str(number) for number, word in enumerate(UP_TO_TWENTY[:11])} | {"none": "0"}
_ARTICLES = ("a", "an", "the")
_FEWEST_ANNOTATORS = 4
_OTHER_WAY = {"somebody'd": "somebodyd"}

_WHOLE = """
ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't he'd he'd've he's
how'd how'll how's I'd've I'm I've isn't it'd it'd've it'll ma'am mightn't mightn't've might've mustn't must've
needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've shouldn't shouldn't've somebody'd've somebody'll
somebody's someone'd someone'd've someone'll someone's something'd something'd've something'll that's there'd
there'd've there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll
what're what's what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't
would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've
"""


def official(answer: str, sample: Sample) -> Score:
    """VQA's evaluation."""
    answers = [text.strip() for text in target_texts(sample)]
    text = unwrap_box(answer).replace("\n", " ").replace("\t", " ").strip()
    if len(answers) == 1 or len(set(answers)) > 1:
        answers, text = [normalise(each) for each in answers], normalise(text)
    return _score_annotators(text, answers)


def vlmevalkit(answer: str, sample: Sample) -> Score:
    """VLMEvalKit's, which always normalises, and less."""
    answers = [normalise_vlmevalkit(each) for each in target_texts(sample)]
    return _score_annotators(normalise_vlmevalkit(unwrap_box(answer)), answers)


def textvqa(answer: str, sample: Sample) -> Score:
    """TextVQA's evaluation."""
    answers = [normalise_textvqa(each) for each in target_texts(sample)]
    return _score_annotators(normalise_textvqa(unwrap_box(answer)), answers)


def paper(answer: str, sample: Sample) -> Score:
    """ViperGPT's and VDebugger's, which leave the truth unchanged."""
    text, answers = normalise(unwrap_box(answer)), target_texts(sample)
    return _score(text, answers, min(1.0, answers.count(text) / _matches_needed(answers)))


def normalise(text: str) -> str:
    """The text as VQA's evaluation compares it: no punctuation or articles, number words as digits, lower case."""
    return _normalise(text, _STOP_BEFORE_NO_DIGIT)


def normalise_vlmevalkit(text: str) -> str:
    """The same, but a full stop after a digit stays."""
    return _normalise(text, _STOP_AWAY_FROM_DIGITS)


def normalise_textvqa(text: str) -> str:
    """The text as TextVQA's evaluation compares it."""
    text = text.lower().replace(",", "").replace("?", "").replace("'s", " 's").strip()
    return _normalise(text, _STOP_BEFORE_NO_DIGIT)


def _normalise(text: str, stop: re.Pattern[str]) -> str:
    text = text.replace("\n", " ").replace("\t", " ").strip()
    tokens = (_DIGITS.get(token, token) for token in _without_punctuation(text, stop).lower().split())
    return " ".join(contractions().get(token, token) for token in tokens if token not in _ARTICLES)


def _without_punctuation(text: str, stop: re.Pattern[str]) -> str:
    out, joins = text, _DIGIT_COMMA.search(text) is not None
    for mark in _PUNCTUATION:
        touches = f"{mark} " in text or f" {mark}" in text
        out = out.replace(mark, "" if touches or joins else " ")
    return stop.sub("", out, count=_MOST_STOPS)


def _score_annotators(text: str, answers: Sequence[str]) -> Score:
    """The mean over annotators of min(1, matches among the others / 3)."""
    matches = answers.count(text)
    if _matches_needed(answers) == 1:
        return _score(text, answers, float(matches > 0))
    of_matching, of_others = min(1.0, (matches - 1) / 3), min(1.0, matches / 3)
    total = matches * of_matching + (len(answers) - matches) * of_others
    return _score(text, answers, total / len(answers))


def _matches_needed(answers: Sequence[str]) -> int:
    return 3 if len(answers) >= _FEWEST_ANNOTATORS else 1


def _score(text: str, answers: Sequence[str], value: float) -> Score:
    if not text and not value:
        return score_equality(None, "", right=False)
    return Score(value, f"{answers.count(text)} of {len(answers)} annotators say {text}", text)


@cache
def contractions() -> Mapping[str, str]:
    """From each spelling that lacks one of its apostrophes to the right one, and one that goes the other way."""
    return {wrong: right for right in _WHOLE.split() for wrong in _misspelt(right)} | _OTHER_WAY


def _misspelt(word: str) -> Iterator[str]:
    places = [place for place, character in enumerate(word) if character == "'"]
    yield from (word[:place] + word[place + 1 :] for place in places)
