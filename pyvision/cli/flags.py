"""Flags that several commands share, and the types of their values.

The settings of a question are its strategy, models, tools, options and limits.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError

_MODEL_HELP = "offline, openai, vllm, … or NAME:MODEL-ID; see api_configs/"
_STRATEGY_HELP = "code_loop (default), vdebugger, avis, bdog or direct"
_PRICES_HELP = (
    'JSON file with prices per million tokens: {"gpt-4.1*": {"input": 2, "cached": 0.5, "output": 8}} '
    "(default: $PYVISION_PRICES)"
)
_REPEATED = {  # flag -> its metavar, an example, its help
    "--role": (
        "ROLE=NAME",
        "solver=openai:gpt-4.1",
        "use another model for one role of the strategy; repeatable",
    ),
    "--tool": (
        "TOOL=PROVIDER[:WHERE]",
        "detect=model",
        "choose the provider of a tool, for example detect=hf:PATH; repeatable",
    ),
    "--set": ("KEY=VALUE", "repairs=2", "set an option of the strategy; repeatable"),
}


def add_recorded_run(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that `find_recorded_run` reads."""
    parser.add_argument(
        "run_dir", nargs="?", metavar="RUN_DIR", help="the folder of a run, or a part of its name in runs/"
    )
    parser.add_argument("--last", action="store_true", help="the newest run in runs/")


def find_recorded_run(options: argparse.Namespace) -> Path:
    """The folder of the run that is meant. Raises ConfigError."""
    from pyvision.runs.listing import find_run

    if (options.run_dir is None) != options.last:
        raise ConfigError(
            "give one run: its folder, a part of its name in runs/, or --last for the newest one"
        )
    return find_run(options.run_dir)


def add_commands(commands: argparse._SubParsersAction[Any], name: str) -> argparse._SubParsersAction[Any]:
    """A command that consists of other commands; returns where to add those."""
    parser = commands.add_parser(name)
    parts: argparse._SubParsersAction[Any] = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True
    )
    return parts


def add_part(
    parts: argparse._SubParsersAction[Any],
    name: str,
    purpose: str,
    call: Callable[[argparse.Namespace], int],
    more: str = "",
) -> argparse.ArgumentParser:
    """One of those commands. Its own help starts with the purpose that the list of commands shows."""
    description = f"{purpose[0].upper()}{purpose[1:]}. {more}".strip()
    part: argparse.ArgumentParser = parts.add_parser(name, help=purpose, description=description)
    part.set_defaults(call=call)
    return part


def count(text: str) -> int:
    """A positive integer that fits into a machine word."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    if int(text) > sys.maxsize:
        raise argparse.ArgumentTypeError(f"{text!r} is too large; give at most {sys.maxsize}")
    return int(text)


def port(text: str) -> int:
    """A port; 0 stands for any free one."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number from 0 to 65535")
    return int(text)


def above_zero(text: str) -> float:
    """A positive, finite number."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def pairs(flag: str, texts: Sequence[str], example: str) -> dict[str, str]:
    """KEY=VALUE pairs; the last value of a key wins. Raises ConfigError, which shows the example."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ConfigError(f"{flag} {text!r} is not KEY=VALUE, as in {flag} {example}")
        found[key.strip()] = value
    return found


def add_model(parser: argparse.ArgumentParser, what: str = _MODEL_HELP) -> None:
    """--model or --config. what: the help of --model."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("-m", "--model", metavar="NAME", help=what)
    which.add_argument("--config", type=Path, metavar="FILE", help="a model configuration (JSON)")


def find_offline_hint(model: str | None, config: Path | None) -> str:
    """What to use in place of `offline`; the servers of this machine are looked for only if it was not chosen."""
    from pyvision.config.environment import environment
    from pyvision.config.model_config import default_model

    environ = environment()
    if model or config or environ.get("PYVISION_MODEL") or default_model(environ) != "offline":
        return ""
    from pyvision.models.listing import find_local, suggest

    return suggest(find_local())


def add_strategy(parser: argparse.ArgumentParser) -> None:
    """--strategy."""
    parser.add_argument("-s", "--strategy", default="code_loop", metavar="NAME", help=_STRATEGY_HELP)


def add_repeated(parser: argparse.ArgumentParser, flag: str, what: str | None = None) -> None:
    """--role, --tool or --set, which take pairs and can be repeated. what: replaces the usual help."""
    metavar, _, usual = _REPEATED[flag]
    parser.add_argument(flag, action="append", default=[], metavar=metavar, help=what or usual)


def parse_pairs(options: argparse.Namespace, flag: str) -> dict[str, str]:
    """The pairs of --role, --tool or --set. Raises ConfigError."""
    return pairs(flag, getattr(options, flag.removeprefix("--")), _REPEATED[flag][1])


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The limits of one question."""
    add = parser.add_argument_group("limits of one question").add_argument
    add(
        "--max-turns",
        type=count,
        default=20,
        metavar="N",
        help="replies from the strategy's models; replies to its tools do not count (default 20)",
    )
    add(
        "--max-tokens",
        type=count,
        default=2_000_000,
        metavar="N",
        help="tokens sent and received (default 2,000,000)",
    )
    add(
        "--max-pictures",
        type=count,
        metavar="N",
        help="distinct images sent to the model (default: no limit)",
    )
    add("--max-bytes", type=count, metavar="N", help="bytes sent to the model (default: no limit)")
    add(
        "--max-seconds",
        type=above_zero,
        default=1800.0,
        metavar="S",
        help="seconds in total (default 1800)",
    )
    add("--max-uses", type=count, default=500, metavar="N", help="tool calls (default 500)")
    add("--max-cost", type=above_zero, metavar="X", help="cost according to --prices (default: no limit)")
    add("--prices", type=Path, metavar="FILE", help=_PRICES_HELP)
    add(
        "--cell-timeout",
        type=above_zero,
        default=30.0,
        metavar="S",
        help="seconds for each cell (default 30)",
    )


def add_generated_set(parser: argparse.ArgumentParser, default_count: int = 100) -> None:
    """--count, --seed and --difficulty."""
    add = parser.add_argument
    add(
        "--count",
        type=count,
        default=default_count,
        metavar="N",
        help=f"samples of a generated set (default {default_count})",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of a generated set (default 0)")
    add(
        "--difficulty",
        type=share,
        default=0.5,
        metavar="X",
        help="difficulty of a generated set, from 0 to 1 (default 0.5)",
    )


def use_settings(parser: argparse.ArgumentParser) -> None:
    """Let pyvision.toml replace the defaults of these flags; the model counts as an environment variable."""
    from pyvision.config.environment import find_settings

    parser.set_defaults(**{name: each.value for name, each in find_settings().items() if name != "model"})


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """The values of these flags, as arguments of `pyvision.solve.prepare`. Raises ConfigError."""
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


class Deprecated(argparse.Action):
    """The old name of a flag: sets the new one, warns, and is not shown in the help."""

    def __init__(self, option_strings: Sequence[str], dest: str, *, new: str, **settings: Any) -> None:
        del dest
        self._new = new
        target = new.lstrip("-").replace("-", "_")
        super().__init__(
            option_strings, target, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **settings
        )

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        del parser
        warnings.warn(f"{option_string} is now {self._new}", DeprecationWarning, stacklevel=2)
        setattr(namespace, self.dest, values)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
