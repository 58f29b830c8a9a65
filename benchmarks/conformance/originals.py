"""Run a published scorer on the replies at standard input, one JSON object a line; one JSON value a line comes out.

python originals.py ADAPTER FILE: FILE is the published script. Its functions, classes and constants are loaded without
its imports, so that no framework is needed. Runs in an environment of its own (`requirements.txt`) and imports nothing
of PyVision. A published scorer may call eval() on a reply: run it on published replies only.

"guess" comes out where the scorer chooses at random.
"""

import ast
import contextlib
import copy
import json
import math
import random
import re
import signal
import string
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TYPES = ("Any", "Dict", "Generator", "List", "Optional", "Sequence", "Tuple", "Union")
_SECONDS = 10  # of CPU time for one reply; what takes longer is wrong, as an error is in the scripts


class _GuessError(Exception):
    pass


class _Dice:
    """Stands in for `random`: a scorer that throws the dice says so."""

    @staticmethod
    def choice(_: Any) -> Any:
        raise _GuessError

    @staticmethod
    def seed(_: Any) -> None:
        pass


def load(file: str, **given: Any) -> dict[str, Any]:
    """The definitions of a script, with what they use from its imports."""
    source = Path(file).read_text(encoding="utf-8")
    source = "\n".join(re.sub(r"^(\s*)print .*", r"\1pass", line) for line in source.split("\n"))  # Python 2
    tree = ast.parse(source)
    kept = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign)]
    space: dict[str, Any] = {
        **{name: getattr(typing, name) for name in _TYPES},
        **vars(math),
        "ast": ast, "cp": copy, "json": json, "random": _Dice, "re": re, "string": string, "sys": sys,
        "os": _Environment, "get_logger": lambda _: None, "__name__": "published", **given,
    }  # fmt: skip
    for node in kept:
        if isinstance(node, ast.Assign) and not _is_constant(node):
            continue
        with contextlib.suppress(NameError):  # what a definition reads from imports that are not given
            exec(compile(ast.Module([node], []), file, "exec"), space)
    return space


def _is_constant(node: ast.Assign) -> bool:
    """Whether an assignment reads nothing but literals and `re.compile`."""
    names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
    return names <= {"re"}


class _Environment:
    environ: typing.ClassVar[dict[str, str]] = {}


def _mathvision(file: str) -> Callable[[Any], Any]:
    import numpy
    from latex2sympy2 import latex2sympy

    folder = Path(file).parent
    tools = load(str(folder / "utils.py"), latex2sympy=latex2sympy, np=numpy)
    lines: list[Any] = []
    script = load(
        file,
        **{name: tools[name] for name in ("find_math_answer", "is_equal", "is_number")},
        tqdm=lambda each, **_: each, load_jsonl=lambda _: lines, save_jsonl=lambda *_, **__: None, id_raw={},
    )  # fmt: skip

    def score(row: Any) -> Any:
        script["id_raw"]["it"] = {"answer": row["target"], "options": row["choices"]}
        lines[:] = [{"id": "it", "response": row["answer"]}]
        script["evaluate"]("it", regen_answer=True)
        return float(lines[0]["correct"])

    return score


def _mathvista(file: str) -> Callable[[Any], Any]:
    from Levenshtein import distance

    script = load(file, distance=distance)

    def score(row: Any) -> Any:
        normalize = script["normalize_extracted_answer"]
        kind = "multi_choice" if row["choices"] else "free_form"
        try:
            found = normalize(row["answer"], row["choices"], kind, row["answer_type"], row["precision"])
        except UnboundLocalError:  # the script knows no text
            found = None
        return float(script["safe_equal"](found, row["target"]))

    return score


def _mathvista_vlmevalkit(file: str) -> Callable[[Any], Any]:
    infer = load(str(Path(file).parent / "matching_util.py"))["can_infer"]
    script = load(file, can_infer=infer)

    def score(row: Any) -> Any:
        kind = "multi_choice" if row["choices"] else "free_form"
        letter = string.ascii_uppercase[row["choices"].index(row["target"])] if row["choices"] else None
        line = {"answer": row["target"], "answer_option": letter, "choices": str(row["choices"]), "res": row["answer"],
                "question_type": kind, "answer_type": row["answer_type"]}  # fmt: skip
        return float(bool(script["post_check"](line)))

    return score


def _mmmu(file: str) -> Callable[[Any], Any]:
    import numpy

    script = load(file, np=numpy)

    def score(row: Any) -> Any:
        if not row["choices"]:
            return float(script["eval_open"](row["target"], script["parse_open_response"](row["answer"])))
        options = _options(row)
        return float(
            script["parse_multi_choice_response"](row["answer"], list(options), options) == row["target"]
        )

    return score


def _vlmevalkit_choice(file: str) -> Callable[[Any], Any]:
    infer = load(file)["can_infer"]
    return lambda row: float(infer(row["answer"], _options(row)) == row["target"])


def _visualpuzzles(file: str) -> Callable[[Any], Any]:
    parse = load(file)["parse_response"]

    def score(row: Any) -> Any:
        options = _options(row)
        return float(parse(row["answer"].strip(), list(options), options).lower() == row["target"].lower())

    return score


def _scienceqa(file: str) -> Callable[[Any], Any]:
    script = load(file)

    def score(row: Any) -> Any:
        document = {"choices": row["choices"], "answer": string.ascii_uppercase.index(row["target"])}
        return script["sqa_process_results"](document, [row["answer"]])["exact_match"]

    return score


class _Questions:
    def __init__(self, questions: dict[str, Any]) -> None:
        self.qa = questions

    def getQuesIds(self) -> list[str]:  # noqa: N802 - as the script calls it
        return list(self.qa)


def _vqa(file: str) -> Callable[[Any], Any]:
    script = load(file)

    def score(row: Any) -> Any:
        people = [{"answer": text, "answer_id": number} for number, text in enumerate(row["target"])]
        truth = {"it": {"answers": people, "question_type": "", "answer_type": ""}}
        grader = script["VQAEval"](_Questions(truth), _Questions({"it": {"answer": row["answer"]}}), n=12)
        grader.updateProgress = lambda *_: None
        grader.evaluate()
        return grader.evalQA["it"] / 100

    return score


def _vlmevalkit_vqa(method: str) -> Callable[[str], Callable[[Any], Any]]:
    def adapter(file: str) -> Callable[[Any], Any]:
        import numpy

        tools = load(str(Path(file).parent / "misc.py"))
        script = load(
            file, np=numpy, istype=lambda text, _: isinstance(text, str) and text.startswith("["),
            listinstr=lambda parts, text: any(part in text for part in parts),
            process_punctuation=tools["process_punctuation"],
        )  # fmt: skip

        def score(row: Any) -> Any:
            line = {"answer": str(row["target"]), "prediction": row["answer"]}
            result = script["process_line"](line, method)
            dataset = {"vqa_score": "TextVQA", "anls": "DocVQA"}.get(method, "ChartQA")
            return float(script["hit_calculate"]([result], dataset)[0])

        return score

    return adapter


def _textvqa(file: str) -> Callable[[Any], Any]:
    grader = load(file)["TextVQAAccuracyEvaluator"]()
    return lambda row: grader.eval_pred_list([{"pred_answer": row["answer"], "gt_answers": row["target"]}])


def _infoseek(file: str) -> Callable[[Any], Any]:
    script = load(file)

    def score(row: Any) -> Any:
        truth = {"it": {"answer_eval": row["target"], "question_type": row["question_type"]}}
        found = script["evaluation"]([{"data_id": "it", "prediction": row["answer"]}], truth)
        return float(next(value for part in found for value in part))

    return score


def _anls(file: str) -> Callable[[Any], Any]:
    import editdistance

    grader = load(file, editdistance=editdistance)["Evaluator"]()
    return lambda row: float(grader.get_metrics([row["target"]], [row["answer"]])["anls"][0])


def _lmms_anls(file: str) -> Callable[[Any], Any]:
    source = Path(file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    kept = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in {"anls", "levenshtein_distance"}
    ]
    for node in kept:
        node.decorator_list = []
    space: dict[str, Any] = {}
    exec(compile(ast.Module(list(kept), []), file, "exec"), space)
    return lambda row: float(space["anls"](row["target"], [row["answer"]])["anls"])


def _relaxed(file: str) -> Callable[[Any], Any]:
    script = load(file)
    return lambda row: float(script["relaxed_correctness"](prediction=row["answer"], target=row["target"]))


def _chartqapro(file: str) -> Callable[[Any], Any]:
    from anls import anls_score

    script = load(file, anls_score=anls_score)

    def score(row: Any) -> Any:
        line = {"Answer": [row["target"]], "prediction": row["answer"], "Question Type": row["question_type"],
                "Year": row["year_flags"]}  # fmt: skip
        return float(script["evaluate_predictions_chartqapro"]([line])["Overall"])

    return score


def _tallyqa(file: str) -> Callable[[Any], Any]:
    script = load(file)
    return lambda row: float(script["extract_count_from_prediction"](row["answer"]) == row["target"])


def _options(row: Any) -> dict[str, str]:
    return dict(zip(string.ascii_uppercase, row["choices"], strict=False))


ADAPTERS: dict[str, Callable[[str], Callable[[Any], Any]]] = {
    "anls": _anls,
    "chartqapro": _chartqapro,
    "infoseek": _infoseek,
    "lmms-anls": _lmms_anls,
    "mathvision": _mathvision,
    "mathvista": _mathvista,
    "mathvista-vlmevalkit": _mathvista_vlmevalkit,
    "mmmu": _mmmu,
    "relaxed": _relaxed,
    "scienceqa": _scienceqa,
    "tallyqa": _tallyqa,
    "textvqa": _textvqa,
    "visualpuzzles": _visualpuzzles,
    "vlmevalkit-accuracy": _vlmevalkit_vqa("accuracy"),
    "vlmevalkit-anls": _vlmevalkit_vqa("anls"),
    "vlmevalkit-choice": _vlmevalkit_choice,
    "vlmevalkit-relaxed": _vlmevalkit_vqa("relaxed_accuracy"),
    "vlmevalkit-vqa": _vlmevalkit_vqa("vqa_score"),
    "vqa": _vqa,
}


def main() -> None:
    adapter, file = sys.argv[1:]
    score = ADAPTERS[adapter](file)
    signal.signal(signal.SIGPROF, _interrupt)
    out, sys.stdout = sys.stdout, sys.stderr  # some scorers print
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # of the processor: other work cannot use it up
        try:
            value: Any = score(json.loads(line))
        except _GuessError:
            value = "guess"
        except Exception as error:  # noqa: BLE001 - what a published scorer does with a reply is data
            value = f"{type(error).__name__}"
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(value), file=out)


def _interrupt(*_: Any) -> None:
    raise TimeoutError


if __name__ == "__main__":
    random.seed(0)
    main()
