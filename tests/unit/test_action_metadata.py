"""action.yml, the settings, the workflows, the README, the docs and the schemas say the same."""

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import typer
import yaml

from utboost_action import __version__
from utboost_action.activities.step import Ending
from utboost_action.cli import app
from utboost_action.settings import ActionOptions, FailOn, Mode, SandboxKind, Settings
from utboost_action.shards import Plan, ShardResult
from utboost_action.typed_json import schema_of

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
DOCS = (ROOT / "docs/action.md").read_text()
README = (ROOT / "README.md").read_text()
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WORKFLOWS = sorted(
    [*(ROOT / ".github/workflows").glob("*.yml"), *(ROOT / "examples/workflows").glob("*.yml")]
)
OURS = re.compile(r"uses: (?:docker://ghcr\.io/)?utboost/utboost-action[@/]")
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40}(?: # \S.*)?$|uses: docker://[\w./-]+@sha256:[0-9a-f]{64}$")


def reusable_inputs() -> dict[str, dict[str, object]]:
    """The inputs of the reusable workflow."""
    value = yaml.safe_load((ROOT / ".github/workflows/audit.yml").read_text())
    return value[True]["workflow_call"]["inputs"]  # YAML 1.1 reads `on` as true


class Recorder(Mapping[str, str]):
    """An environment that remembers which inputs were looked at."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> str:
        if name.startswith("INPUT_"):
            self.seen.add(name.removeprefix("INPUT_").lower())
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def test_the_settings_read_exactly_the_inputs_of_the_action():
    recorder = Recorder()
    Settings.from_environ(recorder)
    assert recorder.seen == set(ACTION["inputs"])


def test_the_defaults_of_the_action_are_those_of_the_settings():
    environ = {
        f"INPUT_{name.upper()}": str(value["default"])
        for name, value in ACTION["inputs"].items()
        if name != "github-token"
    }
    assert Settings.from_environ(environ) == Settings.from_environ({})


@pytest.mark.parametrize(
    ("name", "kind"), [("mode", Mode), ("fail-on", FailOn), ("sandbox", SandboxKind), ("outcome", Ending)]
)
def test_every_accepted_word_is_in_the_description(name, kind):
    described = (ACTION["inputs"] | ACTION["outputs"])[name]["description"]
    assert all(re.search(rf"\b{word}\b", described) for word in kind), described


def table(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of docs/action.md, without its head."""
    section = re.split(r"^## ", DOCS, flags=re.MULTILINE)
    (text,) = [part for part in section if part.startswith(f"{heading}\n")]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def default_of(value: Mapping[str, object]) -> str:
    """An input's default as the docs show it."""
    text = str(value["default"])
    return "the job's token" if text == "${{ github.token }}" else f"`{text}`" if text else "\u2013"


def test_the_docs_list_the_inputs_of_the_action_and_no_others():
    wanted = [
        [f"`{name}`", default_of(value), value["description"]] for name, value in ACTION["inputs"].items()
    ]
    assert table("Inputs") == wanted


def test_the_docs_list_the_outputs_of_the_action_and_no_others():
    wanted = [[f"`{name}`", value["description"]] for name, value in ACTION["outputs"].items()]
    assert table("Outputs") == wanted


def test_the_docs_list_the_outcomes_with_their_exit_codes_and_no_others():
    listed = {(row[0], row[1]) for row in table("How a step ends")}
    assert listed == {(f"`{ending}`", str(ending.exit_code)) for ending in Ending}


def test_the_docs_list_the_modes_and_no_others():
    assert {row[0] for row in table("Zones")} == {f"`{mode}`" for mode in Mode}


def test_every_setting_is_an_input_or_has_its_reason():
    fields = {field.name for kind in (Settings, ActionOptions) for field in dataclasses.fields(kind)}
    no_inputs = {
        "submission",
        "shown_as",
        "action",
    }  # found in the pull request; made from it; the inputs' own
    no_inputs |= {"resume"}  # `force` of a workflow_dispatch, and /utboost recheck
    assert {name.replace("_", "-") for name in fields - no_inputs} == set(ACTION["inputs"])


def test_the_reusable_workflow_has_the_actions_inputs_with_their_defaults():
    known = reusable_inputs()
    own = {"runner", "environment"}  # docs/action.md names these two
    assert set(known) - set(ACTION["inputs"]) == own
    for name in set(known) - own - {"benchmark"}:
        assert known[name]["default"] == ACTION["inputs"][name]["default"], name
    assert known["benchmark"]["required"] is True
    assert all(f"`{name}`" in DOCS for name in own)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_readme_and_docs_name_only_inputs_and_outputs_that_there_are(path):
    text = path.read_text()
    for section, named in (("inputs", r"\binputs? `([a-z-]+)`"), ("outputs", r"\boutputs? `([a-z-]+)`")):
        assert set(re.findall(named, text)) <= set(ACTION[section])
    for block in re.findall(r"^```ya?ml\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        value = yaml.safe_load(block)
        for job in value.get("jobs", {}).values():
            if "audit.yml" in job.get("uses", ""):
                assert set(job["with"]) <= set(reusable_inputs())
            for step in job.get("steps", []):
                if "utboost-action" in step.get("uses", ""):
                    assert set(step["with"]) <= set(ACTION["inputs"])


def test_the_readme_shows_the_workflow_that_is_there_to_copy():
    (block,) = re.findall(r"^```yaml\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    shown, copied = (
        yaml.safe_load(text) for text in (block, (ROOT / "examples/workflows/forks.yml").read_text())
    )
    assert shown[True] == copied[True]  # YAML 1.1 reads `on` as true
    assert shown["permissions"] == copied["permissions"] == {}
    given, whole = shown["jobs"]["audit"], copied["jobs"]["audit"]
    assert given["permissions"] == whole["permissions"]
    assert given["uses"].partition("@")[0] == whole["uses"].partition("@")[0]
    assert given["with"] == {name: whole["with"][name] for name in given["with"]}


def said_of_the_command_line() -> Iterator[tuple[str, list[str]]]:
    """(document, words) for every use of the command in README and docs."""
    for path in DOCUMENTS:
        text = path.read_text().replace("\\\n", " ")
        for words in re.findall(r"utboost-action ((?:[a-z]+ ?)+[^`#\n]*)", text):
            yield path.name, words.split()


def test_the_readme_and_docs_use_only_commands_and_options_that_there_are():
    used: set[str] = set()
    for document, words in said_of_the_command_line():
        command = typer.main.get_command(app)
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        if hasattr(command, "commands"):
            continue  # prose that goes on after the name
        used.add(command.name or "")
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        options = {name for word in words for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*", word)}
        assert options <= known | {"--help"}, f"{document}: {command.name} has no {options - known}"
    assert {"audit", "inspect", "regrade", "parse", "generate", "confirm", "board"} <= used


def test_the_image_is_built_here_and_pinned_in_a_release():
    image = ACTION["runs"]["image"]
    assert image == "Dockerfile" or re.fullmatch(r"docker://[\w./-]+@sha256:[0-9a-f]{64}", image)
    assert f'__version__ = "{__version__}"' in (ROOT / "utboost_action/__init__.py").read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_a_whole_commit_or_digest(path):
    used = re.findall(r"^\s*(?:- )?(uses: .*)$", path.read_text(), re.MULTILINE)
    assert [line for line in used if not PINNED.fullmatch(line)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_begin_without_permissions(path):
    assert yaml.safe_load(path.read_text())["permissions"] == {}


def _steps(value: object) -> Iterator[dict]:
    for job in value["jobs"].values():
        yield from job.get("steps", [])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_give_our_action_only_inputs_that_it_has(path):
    value = yaml.safe_load(path.read_text())
    for step in _steps(value):
        if OURS.match(f"uses: {step.get('uses', '')}"):
            assert set(step["with"]) <= set(ACTION["inputs"]), step
    known = reusable_inputs()
    for job in value["jobs"].values():
        if "audit.yml" in job.get("uses", ""):
            assert set(job.get("with", {})) <= set(known)
            assert all(
                spec["required"] is False or name in job["with"]
                for name, spec in known.items()
                if "required" in spec
            )


def test_the_zones_know_no_more_than_they_need():
    jobs = yaml.safe_load((ROOT / ".github/workflows/audit.yml").read_text())["jobs"]
    texts = {name: yaml.safe_dump(job) for name, job in jobs.items()}
    assert [name for name, text in texts.items() if "model-key" in text] == ["generate"]
    assert [name for name, text in texts.items() if "github.token" in text] == ["collect", "report"]
    writing = [name for name, job in jobs.items() if "write" in job["permissions"].values()]
    assert writing == ["report"]
    told = {
        name: step["with"]
        for name, job in jobs.items()
        for step in job["steps"]
        if "mode" in step.get("with", {})
    }
    for name in ("benchmark", "image-template", "repeats", "timeout"):
        assert len({str(each.get(name)) for each in told.values()}) == 1, f"all jobs need the same {name}"


@pytest.mark.parametrize(("kind", "name"), [(Plan, "plan"), (ShardResult, "shard")])
def test_the_schemas_are_those_of_the_types(kind, name):
    written = json.loads((ROOT / f"docs/{name}.schema.json").read_text())
    assert written == schema_of(kind, f"{name}.json of UTBoost Action"), "run python tests/write_schemas.py"
