"""A limit that cannot be used is refused when the policy is made, not by a session that fails for it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sandbox import Policy, Sandbox


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
        ("seed", -1),
        ("seed", 2**32),
        ("cpus", 0),
    ],
)
def test_a_limit_out_of_range_is_named(field: str, value: float) -> None:
    settings: dict[str, Any] = {field: value}
    with pytest.raises(ValueError, match=f"Policy.{field}: {value} is out of range"):
        Policy(**settings)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("cell_timeout_s", "3", "'3' is not a number"),
        ("memory_bytes", math.inf, "inf is not a whole number"),
        ("processes", 12.5, "12.5 is not a whole number"),
        ("wrap", "firejail", "'firejail' is not a tuple of texts"),
        ("preload", ("cv2", 3), r"\('cv2', 3\) is not a tuple of texts"),
    ],
)
def test_a_value_of_another_type_is_named(field: str, value: object, message: str) -> None:
    settings: dict[str, Any] = {field: value}
    with pytest.raises(TypeError, match=f"Policy.{field}: {message}"):
        Policy(**settings)


@pytest.mark.parametrize(("argument", "value"), [("spare", -1), ("max_sessions", 0)])
def test_a_number_of_sessions_out_of_range_is_named(argument: str, value: int) -> None:
    settings: dict[str, Any] = {argument: value}
    with pytest.raises(ValueError, match=rf"Sandbox\({argument}={value}\) is out of range"):
        Sandbox(**settings)


def test_nothing_may_be_kept_of_a_cell() -> None:
    assert Policy(figures=0, host_calls=0, output_chars=0, messages=0).figures == 0
