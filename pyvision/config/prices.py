"""What replies cost, by a table that the user supplies: no price stands in the code.

A table is a JSON object, of which the first pattern that a model's name matches (`*` and `?`) counts:
{"gpt-4.1*": {"input": 2.0, "cached": 0.5, "output": 8.0, "currency": "USD"}}: prices of a million tokens.
Not covered: what some endpoints take for writing to their prompt cache, and prices that change with the length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pyvision.config.files import read_settings
from pyvision.errors import ConfigError
from pyvision.types import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens; input that came out of the prompt cache costs `cached`, if that is given."""

    input: float
    output: float
    cached: float | None = None
    currency: str = "USD"

    def of(self, usage: Usage) -> float:
        """What these tokens cost, in the price's currency."""
        cached = self.input if self.cached is None else self.cached
        paid_in_full = usage.input_tokens - usage.cached_tokens
        spent = paid_in_full * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output
        return spent / _MILLION


def load_prices(file: Path) -> Mapping[str, Price]:
    """The table in a file, its patterns in order. Raises ConfigError."""
    from pydantic import TypeAdapter, ValidationError

    try:
        table = TypeAdapter(dict[str, Price]).validate_json(read_settings(file))
    except OSError as error:
        raise ConfigError(f"{file}: the price table cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{file}: {where}: {first['msg'].lower()}; see --help for the format") from None
    for pattern, price in table.items():
        if min(price.input, price.output, price.cached or 0) < 0:
            raise ConfigError(f"{file}: {pattern}: a price is below 0; give what a million tokens cost")
    return table


def prices_of(models: Iterable[str], table: Mapping[str, Price]) -> Mapping[str, Price]:
    """The price of each of these models that the table knows. Raises ConfigError where currencies differ."""
    found = {
        model: next(price for pattern, price in table.items() if fnmatchcase(model, pattern))
        for model in models
        if any(fnmatchcase(model, pattern) for pattern in table)
    }
    currencies = sorted({price.currency for price in found.values()})
    if len(currencies) > 1:
        raise ConfigError(f"the price table mixes {' and '.join(currencies)}; use one currency")
    return found
