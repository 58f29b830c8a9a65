"""Serve a folder with `transformers serve`: python -m tests.real.serve FOLDER --device cpu --port N

transformers 5.23 hands the processor, in place of the tokenizer, to what looks for stop strings, so a request with
`stop` fails for every model that sees; here it gets the tokenizer.
"""

from __future__ import annotations

import sys
from typing import Any


def main() -> None:
    from transformers.cli.transformers import main as transformers
    from transformers.generation.utils import GenerationMixin

    generate = GenerationMixin.generate

    def with_tokenizer(self: Any, *arguments: Any, **options: Any) -> Any:
        given = options.get("tokenizer")
        if given is not None:
            options["tokenizer"] = getattr(given, "tokenizer", given)
        return generate(self, *arguments, **options)

    GenerationMixin.generate = with_tokenizer
    sys.argv[:1] = ["transformers", "serve"]
    transformers()


if __name__ == "__main__":
    main()
