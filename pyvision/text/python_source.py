"""Parse Python that a model wrote, which may hold anything."""

from __future__ import annotations

import ast
import threading
import warnings

MOST_SOURCE_CHARS = 32_000  # no thread runs while Python parses: up to 0.1 s, and no cell is as long

# Neither warnings.catch_warnings nor (seen with 3.11) ast.parse is safe between threads: that one counts its depth for
# the whole interpreter, and raises SystemError when a garbage collection inside it lets another thread count on.
_ONE_AT_A_TIME = threading.Lock()


def parse_source(code: str) -> ast.Module:
    """The syntax tree. Raises SyntaxError for whatever has none: no Python, NUL bytes, surrogates, deep nesting.

    So it does for more than `MOST_SOURCE_CHARS` characters, which are not read.
    """
    if len(code) > MOST_SOURCE_CHARS:
        raise SyntaxError(f"{len(code):,} characters; more than {MOST_SOURCE_CHARS:,} are not read")
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in the model's code is for the kernel to report
        try:
            return ast.parse(code)
        except (RecursionError, MemoryError):
            raise SyntaxError("nested too deeply to read") from None
        except ValueError as error:
            raise SyntaxError(str(error)) from None
