from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pyvision.config.prices import Price, load_prices, prices_of
from pyvision.errors import ConfigError
from pyvision.types import Usage

TABLE = {"small-*": {"input": 1, "output": 4}, "*": {"input": 2.0, "cached": 0.5, "output": 8.0}}


def write_file(folder: Path, table: Any) -> Path:
    file = folder / "prices.json"
    file.write_text(table if isinstance(table, str) else json.dumps(table), encoding="utf-8")
    return file


def test_cached_input_has_its_own_price() -> None:
    price = Price(input=2.0, cached=0.5, output=8.0)
    assert price.of(Usage(1_000_000, 500_000, 400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.5 * 8)


def test_cached_input_without_a_price_costs_what_input_costs() -> None:
    assert Price(input=2.0, output=8.0).of(Usage(1_000_000, 0, 400_000)) == pytest.approx(2.0)


def test_the_first_pattern_that_matches_counts(tmp_path: Path) -> None:
    table = load_prices(write_file(tmp_path, TABLE))
    prices = prices_of(["small-1", "large-1"], table)
    assert (prices["small-1"].input, prices["large-1"].input) == (1, 2.0)


def test_a_model_that_no_pattern_matches_has_no_price(tmp_path: Path) -> None:
    assert (
        prices_of(["other"], load_prices(write_file(tmp_path, {"small-*": {"input": 1, "output": 4}}))) == {}
    )


def test_two_currencies_in_one_question_are_refused() -> None:
    table = {"a": Price(1, 1), "b": Price(1, 1, currency="EUR")}
    with pytest.raises(ConfigError, match="EUR and USD"):
        prices_of(["a", "b"], table)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("{", "prices.json"),
        ({"m": {"input": 1}}, "output"),
        ({"m": {"input": "much", "output": 1}}, "m.input"),
        ({"m": {"input": -1, "output": 1}}, "below 0"),
        ([], "prices.json"),
    ],
)
def test_what_is_no_price_table_is_one_line(tmp_path: Path, table: Any, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected) as caught:
        load_prices(write_file(tmp_path, table))
    assert "\n" not in str(caught.value)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json"):
        load_prices(tmp_path / "nowhere.json")
