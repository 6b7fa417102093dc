"""Asks pip-audit for known vulnerabilities of everything that the lock files pin.

pip-audit is installed once into a virtual environment outside of the repository. It ends with success also
when it could look nothing up, so its answer is read package by package here. Where no service can be asked,
a line says so and the check passes, unless `--required` is given.

Usage: python tests/check_dependencies.py [--required] [LOCK ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-reference.txt")
VERSION = "2.10.1"
SERVICES = ("pypi", "osv")  # the second is asked when the first knows nothing
SECONDS = 600


@dataclass(frozen=True)
class Answer:
    """What a service says of a lock file. unknown: packages that it could not look up; found: `name version:
    advisory` lines. problem: why there is no answer at all, else ""."""

    known: int = 0
    unknown: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    problem: str = ""


def answer_of(output: str, said: str) -> Answer:
    """pip-audit's JSON (`output`) and its messages as an Answer; nothing looked up is no answer."""
    try:
        listed = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = [line for line in said.splitlines() if line.strip()]
        return Answer(problem=lines[-1][:160] if lines else "no output")
    known = [each for each in listed if "skip_reason" not in each]
    unknown = tuple(each["name"] for each in listed if "skip_reason" in each)
    if not known:
        reason = listed[0]["skip_reason"] if listed else "the lock file pins nothing"
        return Answer(unknown=unknown, problem=f"none of {len(listed)} packages is known there ({reason})")
    found = tuple(
        f"{each['name']} {each['version']}: {_advisory(one)}" for each in known for one in each["vulns"]
    )
    return Answer(len(known), unknown, found)


def _advisory(one: dict[str, Any]) -> str:
    fixed = ", ".join(one.get("fix_versions") or ()) or "no version"
    return f"{one['id']}, fixed in {fixed}"


def verdict(lock: str, answers: dict[str, Answer], *, required: bool) -> tuple[int, list[str]]:
    """(exit code, lines to print) from the services' answers on one lock file, in the order asked."""
    usable = next(((name, each) for name, each in answers.items() if not each.problem), None)
    if usable is None:
        why = "; ".join(f"{name}: {each.problem}" for name, each in answers.items())
        word = "required" if required else "skipped"
        return int(required), [f"{lock}: advisories not reachable: {word} ({why})"]
    service, answer = usable
    lines = [f"{lock}: {answer.known} packages looked up at {service}, {len(answer.found)} advisories"]
    lines += [f"  {line}" for line in answer.found]
    if answer.unknown:
        lines.append(f"  not known there: {', '.join(answer.unknown)}")
    return int(bool(answer.found) or (required and bool(answer.unknown))), lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--required", action="store_true", help="fail where advisories cannot be had")
    parser.add_argument("locks", nargs="*", default=LOCKS, metavar="LOCK")
    given = parser.parse_args()
    try:
        tool = pip_audit()
    except (OSError, subprocess.CalledProcessError) as problem:
        word = "required" if given.required else "skipped"
        sys.stdout.write(f"pip-audit {VERSION} cannot be installed: {word} ({problem})\n")
        return int(given.required)
    code = 0
    for lock in given.locks:
        answers: dict[str, Answer] = {}
        for service in SERVICES:
            answers[service] = ask(tool, ROOT / lock, service)
            if not answers[service].problem:
                break
        failed, lines = verdict(lock, answers, required=given.required)
        code = code or failed
        sys.stdout.write("\n".join(lines) + "\n")
    return code


def ask(tool: Path, lock: Path, service: str) -> Answer:
    """One run of pip-audit over the pins of a lock file; nothing is installed and nothing resolved."""
    command = [
        str(tool),
        "--disable-pip",
        "--require-hashes",
        "--format",
        "json",
        "--progress-spinner",
        "off",
    ]
    try:
        done = subprocess.run(
            [*command, "--vulnerability-service", service, "--requirement", str(lock)],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(problem=f"no answer within {SECONDS} s")
    return answer_of(done.stdout, done.stderr)


def pip_audit() -> Path:
    """The tool, installed where it is missing."""
    folder = Path(tempfile.gettempdir()) / f"utboost-pip-audit-{VERSION}-{os.getuid()}"
    tool = folder / "bin" / "pip-audit"
    if not tool.exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run(
            [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check",
             f"pip-audit=={VERSION}"],
            check=True,
        )  # fmt: skip
    return tool


if __name__ == "__main__":
    sys.exit(main())
