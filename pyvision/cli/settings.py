"""The flags that say how questions are answered: by which models and tools, with which options, within which limits."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pyvision.cli.flags import above_zero, count, pairs

_MODEL_HELP = "offline, openai, vllm … or NAME:MODEL-ID; see api_configs/"
_STRATEGY_HELP = "code_loop (default), vdebugger, avis, bdog or direct"
_PRICES_HELP = (
    'a price table, money for a million tokens: {"gpt-4.1*": {"input": 2, "cached": 0.5, "output": 8}} '
    "(default: PYVISION_PRICES)"
)
_REPEATED = {  # flag -> what it takes, an example of it, its help
    "--role": (
        "ROLE=NAME",
        "solver=openai:gpt-4.1",
        "another model for one role of the strategy; repeatable",
    ),
    "--tool": (
        "TOOL=PROVIDER[:WHERE]",
        "detect=model",
        "who provides a tool of the strategy, as in detect=hf:PATH; repeatable",
    ),
    "--set": ("KEY=VALUE", "repairs=2", "an option of the strategy; repeatable"),
}


def add_model(parser: argparse.ArgumentParser, what: str = _MODEL_HELP) -> None:
    """--model or --config. what: the help of the first."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--model", metavar="NAME", help=what)
    which.add_argument("--config", type=Path, metavar="FILE", help="a model configuration file (JSON)")


def add_strategy(parser: argparse.ArgumentParser) -> None:
    """--strategy."""
    parser.add_argument("--strategy", default="code_loop", metavar="NAME", help=_STRATEGY_HELP)


def add_repeated(parser: argparse.ArgumentParser, flag: str, what: str | None = None) -> None:
    """--role, --tool or --set, which are given as pairs and as often as needed. what: another help."""
    metavar, _, usual = _REPEATED[flag]
    parser.add_argument(flag, action="append", default=[], metavar=metavar, help=what or usual)


def parse_pairs(options: argparse.Namespace, flag: str) -> dict[str, str]:
    """The pairs of --role, --tool or --set. Raises ConfigError."""
    return pairs(flag, getattr(options, flag.removeprefix("--")), _REPEATED[flag][1])


def add_limits(parser: argparse.ArgumentParser) -> None:
    """What one question may spend."""
    add = parser.add_argument
    add("--max-turns", type=count, default=20, metavar="N", help="replies asked of the model (default 20)")
    add("--max-tokens", type=count, default=2_000_000, metavar="N", help="tokens in all (default 2,000,000)")
    add("--max-pictures", type=count, metavar="N", help="different pictures shown to the model")
    add("--max-bytes", type=count, metavar="N", help="bytes sent to the model in all")
    add("--max-seconds", type=above_zero, default=1800.0, metavar="S", help="time in all (default 1800)")
    add("--max-uses", type=count, default=500, metavar="N", help="uses of tools (default 500)")
    add("--max-cost", type=above_zero, metavar="X", help="money in all, by the price table")
    add("--prices", type=Path, metavar="FILE", help=_PRICES_HELP)
    add("--cell-timeout", type=above_zero, default=30.0, metavar="S", help="time for one cell (default 30)")


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """What all of these flags together say, as `pyvision.solve.prepare` takes it. Raises ConfigError."""
    from dataclasses import fields

    from pyvision.agent.budget import Limits
    from sandbox import Policy

    return {
        "strategy": options.strategy,
        "model": options.model,
        "config": options.config,
        "roles": parse_pairs(options, "--role"),
        "tools": parse_pairs(options, "--tool"),
        "options": parse_pairs(options, "--set"),
        "limits": Limits(**{budget.name: getattr(options, budget.name) for budget in fields(Limits)}),
        "policy": Policy(cell_timeout_s=options.cell_timeout),
        "prices": options.prices,
    }
