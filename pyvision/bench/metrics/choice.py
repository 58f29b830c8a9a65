"""Multiple choice: the rules by which benchmarks find the option that an answer means.

A sample's `target` is the letter of the right option, or its text; where both fit, it is the letter. Without `choices`
(the options are part of the question or the image) the letters are those of `metadata["letters"]`, A to D if that is
absent.

In every flavour, a reply that names no option has none, also where the published script finds one: a letter in a reply
that only declines is no option (`unless_declined`), nor is a text that is an option's letter searched for in prose.

Flavours
* strict: ours, see `find_named`.
* mmmu: the matching of MMMU's evaluation (`parse_multi_choice_response`): letters in brackets, then letters between
  spaces, then, in answers of more than five words, the options' texts, also inside other words; of several the last.
  Beside anything but a refusal, it takes the article "A" for an option. Where MMMU guesses at random, nothing is found.
* vlmevalkit: `can_infer`, see `find_vlmevalkit`. Where VLMEvalKit would ask a judge, nothing is found.
* exact: the letter alone, with or without brackets and punctuation, or one option's whole text.
* as-published (of visualpuzzles): the patterns of the benchmark's own task for lmms-eval, in their order; where it
  guesses at random, nothing is found.
* lmms-eval (of scienceqa): the answer is the letter in either case, or begins with a capital and a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from string import ascii_uppercase
from typing import TypeAlias

from pyvision.bench.metrics.registry import Metric, score_equality, target_error, unwrap_box
from pyvision.bench.samples import Sample, Score
from pyvision.text.refusals import clauses_of

Options: TypeAlias = Mapping[str, str]  # letter -> text; the text is empty where it is not known
Finder: TypeAlias = Callable[[str, Options], str | None]

_PUNCTUATION = (",", ".", "!", "?", ";", ":", "'")
_BLANKED = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_VLMEVALKIT_ANSWER_IS = re.compile(r"(?:correct\s+)?answer\s+is\s+\**([ABCD])\**", re.IGNORECASE)
_VLMEVALKIT_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_VLMEVALKIT_FAILURE = "Failed to obtain answer via API"
_BARE = re.compile(r"[*_`\"“'‘$]*[\[({]?\s*([A-Z])\s*[\])}]?[*_`\"”'’$]*\s*[.:]?[*_]*", re.IGNORECASE)

_MARKED = re.compile(
    r"\*\*\s*\(?([A-Z])(?:[).:]?\s*\*\*|[).:]\s)|\(\s*([A-Z])\s*\)|\[\s*([A-Z])\s*\]|\b([A-Z])\)"
)
_ENDS = r"(?=[\s*_`\"”'’$)\]}\\]*(?:[.,;:!?\n)—–-]|$|\s(?:because|since|as|for|and|which|is\s+(?:right|correct))\b))"
_CUED = re.compile(
    rf"""\b(?:answers?(?:\s+(?:is|are|would\s+be|should\s+be|must\s+be|letter\s+is)\b\s*:?|\s*[:=])
    |(?:choose|select|pick|go(?:ing)?\s+with)\b)
    [\s*_`"“'‘$]*(?:(?:the|option|choice|letter)\s+){{0,2}}[\s*_`"“'‘$]*(?:\\\()?\s*
    (?:\\text\{{)?(?:\(\s*(?P<round>[A-Za-z])\s*\)|\[\s*(?P<square>[A-Za-z])\s*\]|(?P<bare>[A-Za-z])(?![\w'’]){_ENDS})""",
    re.VERBOSE | re.IGNORECASE,
)
_LEADING = re.compile(
    r"[*_`\s]*(?:(?:option|choice)\s+)?(?:\(\s*(?P<round>[A-Z])\s*\)|(?P<bare>[A-Z])(?P<mark>[).:,]|\s*[-–—]|(?=\s)))[*_`]*\s*"
)
_REASON = re.compile(
    r"(?:because|since|as|it|this|that|the|in|we|from|there|is\s+(?:right|correct))\b|[A-Z(\"*]", re.ASCII
)
_ALONE = re.compile(r"\(?([A-Z])\)?(?=[\s,.;/]*(?:$|\b(?:and|or|nor)\b|[A-Z]\b))")
# Not of "N/A", "Q&A", "U.S.A."
_LAST_WORD = re.compile(r"(?<![\w'’/&])(?<!\b[A-Z]\.)([A-Z])[\s.!*_`\"”$)]*$")
_BESIDE = re.compile(r"(?<![\w'’])([A-Z])\)?\s{0,9}(?:,|,?\s(?:and|or|nor))\s{1,9}$")
_IS_RIGHT = re.compile(
    r"(?<![\w'’])(?:option\s+|choice\s+)?([A-Z])\)?\**\s+(?:is|seems|must\s+be|fits|would\s+be)\s+(?:the\s+)?(?:right|correct|best|answer|most)"
)
_NEGATED = re.compile(
    r"\b(?:not|never|nor|neither|no|isn['’]t|aren['’]t|than|without)\s+(?:an?\s+|the\s+|any\s+)?$",
    re.IGNORECASE,
)
_DENIED = re.compile(  # before a letter
    r"""(?:\b(?:not|never|nor|neither|(?:rather\s+)?than|instead\s+of|without|except|cannot)|n['’]t)
    (?:\s{1,9}(?:be|think|believe|say|it|it['’]s|is|that|the|an?|any|option|choice|answer|letter|really))*
    [\s(\[*_`"“]{1,9}$""",
    re.IGNORECASE | re.VERBOSE,
)
_DENIAL_CHARS = 80
_LONGEST = 20_000  # of a reply whose prose is read; of a longer one only the end


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


def find_named(answer: str, options: Options) -> str | None:
    """The one option that the answer names; None where it names none or several, or declines.

    In this order: the whole answer; the last "answer is X"; a letter that opens the reply, before its option's text or
    a reason; of the last clauses, the first that says "X is right", holds one letter in brackets or bold, ends with a
    letter, or holds the text of one option as whole words. A letter or text behind a negation is not named.
    """
    if whole := find_exact(answer, options):
        return whole
    end = answer[-_LONGEST:]
    clauses = clauses_of(end)
    # "Since it is not clear, the answer is B" names an option.
    after_commas = clauses_of(end.replace(", ", "\n"))
    if cued := _find_cued_option((*after_commas, *clauses), options):
        return cued
    if clauses and answer.lstrip().startswith(clauses[0][:20]) and (led := _leading(answer, options)):
        return led
    for clause in reversed(clauses):
        if found := _in_clause(clause, options):
            return found
    return None


def _find_cued_option(clauses: Iterable[str], options: Options) -> str | None:
    found = [
        letter.upper()
        for clause in clauses
        for match in _CUED.finditer(clause)
        if (letter := match["round"] or match["square"] or match["bare"]).upper() in options
    ]
    return found[-1] if found else None


def _leading(answer: str, options: Options) -> str | None:
    match = _LEADING.match(answer)
    letter = (match["round"] or match["bare"]) if match else None
    if match is None or letter is None or letter not in options:
        return None
    rest, gap = answer[match.end() :], answer[match.start() : match.end()]
    text = options[letter].strip().lower()
    if text and re.match(rf"{re.escape(text)}(?!\w)", rest.lower()):
        return letter
    if (other := _ALONE.match(rest)) and other[1] in options:
        return None
    firm = match["round"] or match["mark"] or "\n" in gap
    return letter if firm and (not rest.strip() or "\n" in gap or _REASON.match(rest)) else None


def _in_clause(clause: str, options: Options) -> str | None:
    for letters in (
        _IS_RIGHT.findall(clause),
        [
            next(filter(None, match.groups()))
            for match in _MARKED.finditer(clause)
            if not _DENIED.search(clause[: match.start()][-_DENIAL_CHARS:])
        ],
        _last_letters(clause),
    ):
        if named := {letter for letter in letters if letter in options}:
            return _only(named)
    return _only(_by_text(clause, texts_of(options)))


def _last_letters(clause: str) -> list[str]:
    """The letter that a clause ends with, and one that is named beside it ("A or B"); none where it is denied."""
    last = _LAST_WORD.search(clause)
    if last is None:
        return []
    before = clause[: last.start()][-_DENIAL_CHARS:]
    if denied := _DENIED.search(before):
        return _last_letters(before[: denied.start()].rstrip(" ,;:—–-"))
    beside = _BESIDE.search(before)
    return [last[1], beside[1]] if beside else [last[1]]


def _by_text(clause: str, options: Options) -> list[str]:
    """The options whose texts the clause holds, without those whose text is a part of another's."""
    found = {
        letter: text
        for letter, option in options.items()
        if (text := option.strip().lower()) and _holds(clause.lower(), text)
    }
    return [
        letter
        for letter, text in found.items()
        if not any(text != other and text in other for other in found.values())
    ]


def _holds(clause: str, text: str) -> bool:
    """Whether the text stands in the clause as whole words; one of up to three letters only at the end."""
    pattern = rf"(?<![\w./&]){re.escape(text)}(?!\w|[.,]\d|/\w)"
    places = [match.start() for match in re.finditer(pattern, clause)]
    if len(text) <= 3 and not text[0].isdigit():
        places = [place for place in places if clause[place + len(text) :].strip(" .!*\"'") == ""]
    return any(not _NEGATED.search(clause[max(0, place - 20) : place]) for place in places)


def unless_declined(reply: str, letter: str | None, options: Options) -> str | None:
    """The letter that a published script found; None where the reply only declines and does not name that option.

    It names it in brackets, in bold or as "answer is X", before its text, or by a text that declines as well.
    """
    if letter is None or letter not in options or clauses_of(reply):
        return letter
    text = options[letter].strip().lower()
    if text and not clauses_of(text) and text in reply.lower():
        return letter
    marked = {next(filter(None, match.groups())) for match in _MARKED.finditer(reply[-_LONGEST:])}
    named = marked | {_find_cued_option((reply[-_LONGEST:],), options), _leading(reply, options)}
    return letter if letter in named else None


def texts_of(options: Options) -> Options:
    """The options' texts, but for those that are the letter of an option, which stands in any prose."""
    return {letter: "" if text.strip().upper() in options else text for letter, text in options.items()}


def find_mmmu(answer: str, options: Options) -> str | None:
    """The option by MMMU's rules; of several candidates the last one."""
    text = answer
    for mark in _PUNCTUATION:
        text = text.strip(mark)
    text = f" {text} "
    for form in ("({})", " {} "):
        if found := _last(text, {letter: form.format(letter) for letter in options}):
            return found
    texts = {letter: option.lower() for letter, option in texts_of(options).items() if option}
    return _last(text.lower(), texts) if len(text.split()) > 5 else None


def _last(text: str, forms: Mapping[str, str]) -> str | None:
    places = {letter: text.rfind(form) for letter, form in forms.items() if form in text}
    return max(places, key=places.__getitem__) if places else None


def find_vlmevalkit(answer: str, options: Options) -> str | None:
    """The option by VLMEvalKit's `can_infer`, or "Z" where the answer declines in one of the ways that it knows.

    With brackets and punctuation blanked, exactly one option letter is among the words, first occurring among the last
    four; else the first "answer is X" (in either case, also at the start of a word); else the one option whose text is
    a part of an answer that is at most twice as long as all options.

    Not covered: its switch VERBOSE.
    """
    if _VLMEVALKIT_FAILURE in answer:
        return infer_text(answer, texts_of(options))
    if any(phrase in answer for phrase in _VLMEVALKIT_REFUSALS):
        return "Z"
    tokens = answer.translate(_BLANKED).split()
    letters = [letter for letter in options if letter in tokens]
    if len(letters) == 1 and tokens.index(letters[0]) >= len(tokens) - 4:
        return letters[0]
    if not letters and "Z" in tokens:
        return "Z"
    if (named := _VLMEVALKIT_ANSWER_IS.search(answer)) and named[1].upper() in options:
        return named[1].upper()
    return infer_text(answer, texts_of(options))


def infer_text(answer: str, options: Options) -> str | None:
    """The one option whose text is a part of an answer at most twice as long as all options, by VLMEvalKit."""
    if len(answer.lower()) > 2 * sum(map(len, options.values())):
        return None
    return _only(letter for letter, text in options.items() if text and text.lower() in answer.lower())


def find_exact(answer: str, options: Options) -> str | None:
    """The option whose letter or whole text the answer is, ignoring case."""
    text = answer.strip()
    if (bare := _BARE.fullmatch(text)) and bare[1].upper() in options:
        return bare[1].upper()
    return _only(
        letter for letter, option in options.items() if option and option.strip().lower() == text.lower()
    )


_PUZZLE_FORMS = tuple(  # of each the last match that is an option
    re.compile(form)
    for form in (
        r"Answer:\s*\(([A-Za-z])\)",
        r"(?<!Final )Answer:\s*([A-Za-z])",
        r"Answer:\s*([A-Za-z])",
        r"\(([A-Za-z])\)",
        r"([A-Za-z])\)",
        r"\{([A-Za-z])\}",
        r"\$([A-Za-z])\$",
        r" ([A-Da-d])\.",
    )
)


def find_visualpuzzles(answer: str, options: Options) -> str | None:
    """The option by the patterns of VisualPuzzles, then by the last option text."""
    text = answer.strip()
    forms = [*_PUZZLE_FORMS, re.compile(" ([A-Da-d])")] if len(text) < 5 else _PUZZLE_FORMS
    for form in forms:
        padded = text if form in _PUZZLE_FORMS[:4] else f" {text}"
        for letter in reversed(form.findall(padded)):
            if letter.upper() in options:
                return str(letter.upper())
    texts = {letter: option for letter, option in texts_of(options).items() if option}
    for letter, option in texts.items():
        if f"answer: {option}" in text.lower() or f"answer:{option}" in text.lower():
            return letter
    return _last(f" {text}", texts)


def find_leading(answer: str, options: Options) -> str | None:
    """The letter that the answer is, in either case, or the capital that it begins with before a full stop."""
    text = answer.strip()
    if text.upper() in options:
        return text.upper()
    return text[0] if len(text) > 1 and text[1] == "." and text[0] in options else None


def _only(letters: Iterable[str]) -> str | None:
    found = list(letters)
    return found[0] if len(found) == 1 else None


def letter_metric(find: Finder) -> Metric:
    """A metric that gives 1 when the finder finds the right letter."""

    def score(answer: str, sample: Sample) -> Score:
        right = right_letter(sample)
        text, options = unwrap_box(answer), options_of(sample)
        letter = unless_declined(text, find(text, options), options)
        return score_equality(letter, right, right=letter == right, what="option")

    return score


strict = letter_metric(find_named)
mmmu = letter_metric(find_mmmu)
vlmevalkit = letter_metric(find_vlmevalkit)
exact = letter_metric(find_exact)
visualpuzzles = letter_metric(find_visualpuzzles)
lmms_eval = letter_metric(find_leading)
