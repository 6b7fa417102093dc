"""How the runner reads log lines and output files (actions/runner: ActionCommand, FileCommandManager)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

COMMANDS = frozenset(
    {
        *("error", "warning", "notice", "debug", "add-mask", "group", "endgroup", "stop-commands", "echo"),
        *("set-output", "set-env", "add-path", "save-state", "add-matcher", "remove-matcher", "internal-x"),
    }
)


@dataclass
class RunnerCommand:
    name: str
    data: str
    properties: dict[str, str] = field(default_factory=dict)


def commands_in(log: str) -> list[RunnerCommand]:
    """Every command that a step's output would issue; lines as .NET's reader splits them."""
    return [found for line in re.split(r"\r\n|\n|\r", log) if (found := _second(line) or _first(line))]


def outputs_in(text: str) -> dict[str, str]:
    """The outputs of a GITHUB_OUTPUT file."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found[line[:equals]] = line[equals + 1 :]
        elif heredoc >= 0:
            name, mark = line[:heredoc], line[heredoc + 2 :]
            end = lines.index(mark, place)
            found[name] = "\n".join(lines[place:end])
            place = end + 1
        else:
            raise AssertionError(f"no output: {line!r}")
    return found


def _second(line: str) -> RunnerCommand | None:
    """`::name key=value,key=value::data`, after white space."""
    line = line.lstrip()
    if not line.startswith("::") or (end := line.find("::", 2)) < 0:
        return None
    name, _, rest = line[2:end].partition(" ")
    if name not in COMMANDS:
        return None
    pairs = [pair.split("=", 1) for pair in rest.strip().split(",") if pair]
    properties = {pair[0]: _unescaped(pair[1], ":,") for pair in pairs if len(pair) == 2}
    return RunnerCommand(name, _unescaped(line[end + 2 :], ""), properties)


def _first(line: str) -> RunnerCommand | None:
    """`##[name key=value]data`, anywhere in a line."""
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name = line[start + 3 : end].partition(" ")[0]
    return RunnerCommand(name, line[end + 1 :]) if name in COMMANDS else None


def _unescaped(text: str, more: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        if character in "\r\n" or character in more:
            text = text.replace(code, character)
    return text.replace("%25", "%")
