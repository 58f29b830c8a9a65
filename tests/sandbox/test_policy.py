"""A limit that cannot be used is refused when the policy is made, not by a session that fails for it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sandbox import Policy


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cell_timeout_s", -1),
        ("cell_timeout_s", math.nan),
        ("memory_bytes", 2**20),
        ("disk_bytes", 1),
        ("disk_files", 1),
        ("open_files", 16),
        ("processes", 4),
        ("figures", -1),
    ],
)
def test_a_limit_out_of_range_is_named(field: str, value: float) -> None:
    settings: dict[str, Any] = {field: value}
    with pytest.raises(ValueError, match=f"Policy.{field}: {value} is out of range"):
        Policy(**settings)


def test_a_limit_that_is_no_number_is_named() -> None:
    with pytest.raises(TypeError, match=r"Policy.cell_timeout_s: '3' is not a number"):
        Policy(cell_timeout_s="3")  # type: ignore[arg-type]


def test_nothing_may_be_kept_of_a_cell() -> None:
    assert Policy(figures=0, host_calls=0, output_chars=0, messages=0).figures == 0
