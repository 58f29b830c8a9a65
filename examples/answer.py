"""Answer one question about one or several images.

python examples/answer.py IMAGE [IMAGE …] --question TEXT [--model offline]
"""

import argparse

import pyvision


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("images", nargs="*", default=["examples/circles.png"])
    parser.add_argument("--question", default="How many circles are in the image?")
    parser.add_argument("--model", help="as for `pyvision run`; without it, the environment decides")
    options = parser.parse_args()

    outcome = pyvision.answer(options.question, options.images, model=options.model)
    if outcome.answer is None:
        raise SystemExit(f"no answer ({outcome.end_reason}): {outcome.error}")
    print(outcome.answer)


if __name__ == "__main__":
    main()
