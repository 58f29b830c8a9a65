"""`pyvision completions`: print what a shell needs to complete commands, options and files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Words: TypeAlias = Mapping[str, tuple[str, ...]]
"""Command, such as `run` or `bench list` (empty: none yet), and what may follow it."""

_BASH = """\
_pyvision() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} command="" word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$command $word" in
{paths}
        esac
    done
    local words=""
    case "$command" in
{words}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -F _pyvision pyvision
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def add_completions(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "completions",
        description='Print the completions of a shell. In ~/.bashrc or ~/.zshrc: eval "$(pyvision completions bash)", '
        "or zsh; for fish: pyvision completions fish > ~/.config/fish/completions/pyvision.fish",
    )
    parser.add_argument("shell", choices=tuple(_SHELLS), metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(call=print_completions)


def print_completions(options: argparse.Namespace) -> int:
    """Print the script; returns the exit code."""
    from pyvision.cli.main import whole_parser

    print(_SHELLS[options.shell](dict(_words(whole_parser()))), end="")  # noqa: T201 - what the command is for
    return 0


def _words(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    flags = [
        flag
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        for flag in action.option_strings
    ]
    parts = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    yield path, (*(name for action in parts for name in action.choices), *flags)
    for action in parts:
        for name, part in action.choices.items():
            yield from _words(part, f"{path} {name}".strip())


def _bash(words: Words) -> str:
    paths = "\n".join(
        f'            "{" ".join(path.split(" ")[:-1])} {path.split(" ")[-1]}") command="{path}" ;;'
        for path in words
        if path
    )
    cases = "\n".join(f'        "{path}") words="{" ".join(found)}" ;;' for path, found in words.items())
    return _BASH.format(paths=paths, words=cases)


def _zsh(words: Words) -> str:
    return _ZSH + _bash(words)


def _fish(words: Words) -> str:
    lines = []
    for path, found in words.items():
        names = [word for word in found if not word.startswith("-")]
        for word in found:
            option = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
            what = option if word.startswith("-") else f"-a {word}"
            lines.append(f"complete -c pyvision -n '{_fish_condition(path, names)}' {what}")
    return "\n".join(lines) + "\n"


def _fish_condition(path: str, names: list[str]) -> str:
    if not path:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path.split())
    return f"{seen}; and not __fish_seen_subcommand_from {' '.join(names)}" if names else seen


_SHELLS: Mapping[str, Callable[[Words], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
