"""Multiple choice: the rules by which benchmarks find the option that an answer means.

A sample's `target` is the letter of the right option, or its text; where both fit, it is the letter. Without `choices`
(the options are part of the question or the image) the letters are those of `metadata["letters"]`, A to D if that is
absent.

Flavours
* official: the matching of MMMU's evaluation (`parse_multi_choice_response`): letters in brackets, then letters between
  spaces, then, in answers of more than five words, the options' texts; of several the last. Nothing found is wrong.
* official-random: as it was published: where nothing is found, a random option. Ours is seeded by the sample's id, so
  that it does not depend on the order of the samples; MMMU's own has one seed (42) for the whole run.
* vlmevalkit: `can_infer`, see there. Where VLMEvalKit would ask a judge or guess, nothing is found.
* exact: the letter alone, with or without brackets and punctuation, or one option's whole text.
* visualpuzzles: the last "Answer: X"; else as official. (What the benchmark itself falls back to was not verified.)
* lmms-eval: ScienceQA's rule: the answer is the letter, or begins with it and a full stop.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from string import ascii_uppercase
from typing import TypeAlias

from pyvision.bench.metrics.registry import Metric, score_equality, target_error, unwrap_box
from pyvision.bench.samples import Sample, Score

Options: TypeAlias = Mapping[str, str]  # letter -> text; the text is empty where it is not known
Finder: TypeAlias = Callable[[str, Options], str | None]

_PUNCTUATION = (",", ".", "!", "?", ";", ":", "'")
_BLANKED = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_ANSWER_IS = re.compile(r"\banswer\s+is\s*:?\s*(?:option\s+)?\(?([A-Z])\b", re.IGNORECASE)
_ANSWER_COLON = re.compile(r"\banswer\s*:\s*[*_$\s]*\(?([A-Z])\b", re.IGNORECASE)
_BARE = re.compile(r"[\[({]?\s*([A-Z])\s*[\])}]?\s*[.:]?", re.IGNORECASE)


def options_of(sample: Sample) -> Options:
    """The options by letter, from A."""
    if sample.choices:
        return dict(zip(ascii_uppercase, sample.choices, strict=False))
    return dict.fromkeys(str(sample.metadata.get("letters", "ABCD")), "")


def right_letter(sample: Sample) -> str:
    """The letter of the right option. Raises ConfigError when the target is neither letter nor option."""
    options, target = options_of(sample), str(sample.target).strip()
    if target.upper() in options:
        return target.upper()
    letters = [letter for letter, text in options.items() if text and text.strip() == target]
    if not letters:
        raise target_error(sample, f"one of the letters {', '.join(options)} or an option's text")
    return letters[0]


def find_official(answer: str, options: Options) -> str | None:
    """The option by MMMU's rules; of several candidates the last one."""
    text = answer
    for mark in _PUNCTUATION:
        text = text.strip(mark)
    text = f" {text} "
    for form in ("({})", " {} "):
        if found := _last(text, {letter: form.format(letter) for letter in options}):
            return found
    texts = {letter: option.lower() for letter, option in options.items() if option}
    return _last(text.lower(), texts) if len(text.split()) > 5 else None


def _last(text: str, forms: Mapping[str, str]) -> str | None:
    places = {letter: text.rfind(form) for letter, form in forms.items() if form in text}
    return max(places, key=places.__getitem__) if places else None


def find_vlmevalkit(answer: str, options: Options) -> str | None:
    """The option by VLMEvalKit's `can_infer`, or "Z" where the answer declines by that letter.

    With brackets and punctuation blanked, exactly one option letter is among the words, first occurring
    among the last four; else "answer is X"; else the one option whose text is a part of the answer.

    Not covered: its phrases of refusal and its switch VERBOSE. The pattern for "answer is" is ours.
    """
    tokens = answer.translate(_BLANKED).split()
    letters = [letter for letter in options if letter in tokens]
    if len(letters) == 1 and tokens.index(letters[0]) >= len(tokens) - 4:
        return letters[0]
    if not letters and "Z" in tokens:
        return "Z"
    if (named := _ANSWER_IS.findall(answer)) and named[-1].upper() in options:
        return str(named[-1].upper())
    return _only(letter for letter, text in options.items() if text and text.lower() in answer.lower())


def find_exact(answer: str, options: Options) -> str | None:
    """The option whose letter or whole text the answer is, ignoring case."""
    text = answer.strip()
    if (bare := _BARE.fullmatch(text)) and bare[1].upper() in options:
        return bare[1].upper()
    return _only(
        letter for letter, option in options.items() if option and option.strip().lower() == text.lower()
    )


def find_after_answer(answer: str, options: Options) -> str | None:
    """The option of the last "Answer: X", else what `find_official` finds."""
    named = [letter.upper() for letter in _ANSWER_COLON.findall(answer) if letter.upper() in options]
    return named[-1] if named else find_official(answer, options)


def find_leading(answer: str, options: Options) -> str | None:
    """The letter that the answer is, or that it begins with before a full stop."""
    text = answer.strip()
    return _only(letter for letter in options if text == letter or text.startswith(f"{letter}. "))


def _only(letters: Iterable[str]) -> str | None:
    found = list(letters)
    return found[0] if len(found) == 1 else None


def letter_metric(find: Finder) -> Metric:
    """A metric that gives 1 when the finder finds the right letter."""

    def score(answer: str, sample: Sample) -> Score:
        right = right_letter(sample)
        letter = find(unwrap_box(answer), options_of(sample))
        return score_equality(letter, right, right=letter == right, what="option")

    return score


def guessing_metric(metric: Metric) -> Metric:
    """The same, with a random option where nothing is found; `parsed` stays None, and `why` names the guess."""

    def score(answer: str, sample: Sample) -> Score:
        found = metric(answer, sample)
        if found.parsed is not None:
            return found
        guess = random.Random(sample.id).choice(list(options_of(sample)))
        return Score(float(guess == right_letter(sample)), f"no option found, guessed {guess}")

    return score


official = letter_metric(find_official)
official_random = guessing_metric(official)
vlmevalkit = letter_metric(find_vlmevalkit)
exact = letter_metric(find_exact)
visualpuzzles = letter_metric(find_after_answer)
visualpuzzles_random = guessing_metric(visualpuzzles)
lmms_eval = letter_metric(find_leading)
