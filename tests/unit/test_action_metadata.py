"""action.yml, the settings, the workflows, the docs and the schemas say the same."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from utboost_action import __version__
from utboost_action.activities.step import Ending
from utboost_action.settings import FailOn, Mode, SandboxKind, Settings
from utboost_action.shards import Plan, ShardResult
from utboost_action.typed_json import schema_of

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
DOCS = (ROOT / "docs/action.md").read_text()
WORKFLOWS = sorted(
    [*(ROOT / ".github/workflows").glob("*.yml"), *(ROOT / "examples/workflows").glob("*.yml")]
)
OURS = re.compile(r"uses: (?:docker://ghcr\.io/)?utboost/utboost-action[@/]")
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40}(?: # \S.*)?$|uses: docker://[\w./-]+@sha256:[0-9a-f]{64}$")


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


@pytest.mark.parametrize("section", ["inputs", "outputs"])
def test_the_docs_list_every_input_and_output_with_its_default(section):
    for name, value in ACTION[section].items():
        row = next((line for line in DOCS.splitlines() if line.startswith(f"| `{name}` |")), None)
        assert row, f"docs/action.md has no row for {name}"
        default = str(value.get("default", ""))
        if section == "inputs" and default and not default.startswith("$"):
            assert f"`{default}`" in row, row


def test_the_docs_list_every_outcome_with_its_exit_code():
    for ending in Ending:
        assert re.search(rf"^\| `{ending}` \| {ending.exit_code} \|", DOCS, re.MULTILINE), ending


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
    reusable = yaml.safe_load((ROOT / ".github/workflows/audit.yml").read_text())
    known = reusable[True]["workflow_call"]["inputs"]  # YAML 1.1 reads `on` as true
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
