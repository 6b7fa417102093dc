"""Tokens of the generation prompts beside the published run's, for a tree or for instances' images.

    python bench/generation.py ROWS pytest-dev__pytest-5227 --tree FOLDER
    python bench/generation.py ROWS [INSTANCE...]
    python -m bench generation            (three real instances from their images, where they are)

ROWS is a benchmark file. FOLDER is an unpacked tree of the base commit without the test patch (for
pytest-dev__pytest-5227 the sdist of pytest 4.4.2); without --tree the trees come out of the images.
Replies are scripted: the test patch's files and, up to three, the files beside them; the places and
lines that the test patch touches. Tokens are counted by o200k_base where the package `bpe_openai` or
`tiktoken` with its vocabulary is installed, and as the bound from bytes otherwise.
"""

import argparse
import contextlib
import importlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from utboost_action.benchmark.rows import read_benchmark
from utboost_action.eval_script import parse_eval_script
from utboost_action.execution.docker_sandbox import DockerSandbox, connect
from utboost_action.generate import SandboxBench
from utboost_action.generation.asking import Message, Reply, Request
from utboost_action.generation.gates import Tally
from utboost_action.generation.localisation import Scope, localise
from utboost_action.generation.mentioned import mentioned_in
from utboost_action.generation.official import OfficialPatch, official_places, read_official
from utboost_action.generation.options import GenerationOptions
from utboost_action.generation.prompting import prefix_of
from utboost_action.generation.repository import RepositoryView, view_of
from utboost_action.generation.schedule import Profile, schedule_of
from utboost_action.generation.tokens import token_bound
from utboost_action.generation.tree import is_test_path
from utboost_action.generation.writing import writing_prompt
from utboost_action.model import Instance

# counted in the transcript published with the UTBoost paper, for pytest-dev__pytest-5227
PUBLISHED = {"files": 2569, "places": 2468, "lines": 5495, "write": 3336}
ROWS = Path(__file__).resolve().parents[2] / "shared/real/benchmark/lite.parquet"
SOME = ("django__django-14787", "mwaskom__seaborn-3010", "sympy__sympy-23117")
Count = Callable[[str], int]


def counter() -> tuple[str, Count]:
    """(name, function) of the best token counter that is installed."""
    for module in ("bpe_openai", "tiktoken"):
        with contextlib.suppress(Exception):
            encode = importlib.import_module(module).get_encoding("o200k_base").encode
            return "o200k_base", partial(_length, encode)
    return "bound from bytes", token_bound


def _length(encode: Callable[[str], Sequence[int]], text: str) -> int:
    return len(encode(text))


class Scripted:
    """Answers with the official test patch's own place, and keeps the prompts."""

    def __init__(self, view: RepositoryView, official: OfficialPatch) -> None:
        self.prompts: dict[str, tuple[Message, ...]] = {}
        places = official_places(official, view)
        own = [path for path in official.paths if path in view.files]
        folders = {path.rpartition("/")[0] for path in own}
        beside = [path for path in view.files if path.rpartition("/")[0] in folders and is_test_path(path)]
        spots = [{"path": path, "name": one.name} for path, listed in places.items() for one in listed]
        lines = [{"path": one.path, "first": one.first, "last": one.last} for one in official.changes]
        self._replies: Mapping[str, object] = {
            "files": {"files": [*dict.fromkeys([*own, *beside])][:3]},
            "places": {"places": spots},
            "lines": {"ranges": [line for line in lines if line["path"] in view.files][:6]},
        }

    def ask(self, request: Request, samples: Sequence[int]) -> Mapping[int, Reply]:
        """Keep the prompt and give the stage's scripted reply."""
        self.prompts[request.stage] = request.messages
        return {sample: Reply(json.dumps(self._replies.get(request.stage, {}))) for sample in samples}


def prompts_of(instance: Instance, view: RepositoryView) -> dict[str, tuple[Message, ...]]:
    """The prompts of all stages with the default options."""
    options = GenerationOptions(model="bench")
    official = read_official(instance.test_patch)
    prefix = prefix_of(
        instance.problem_statement, official, budget=options.context_tokens, mark_source=instance.test_patch
    )
    client = Scripted(view, official)
    scope = Scope(
        instance_id=instance.instance_id,
        model="bench",
        prefix=prefix,
        view=view,
        official=official,
        top_files=options.top_files,
        context_lines=options.context_lines,
        budget=options.locate_tokens,
    )
    location = localise(scope, client, Tally())
    documented = mentioned_in(instance.problem_statement, official.digests[0], view, 4)
    messages, _ = writing_prompt(
        prefix, location, view, documented, budget=options.write_tokens, differential=False
    )
    return {**client.prompts, "write": messages}


def view_of_tree(tree: Path, instance: Instance) -> RepositoryView:
    """A copy of the tree with the test patch applied."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "tree"
        shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(".git"))
        subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
        subprocess.run(["git", "apply", "-"], input=instance.test_patch.encode(), cwd=copy, check=True)
        return view_of({str(path.relative_to(copy)): path.read_bytes() for path in copy.rglob("*.py")})


def view_of_image(instance: Instance, sandbox: DockerSandbox) -> RepositoryView:
    """The tree of an instance's image."""
    script = parse_eval_script(instance.eval_script or "")
    with (
        tempfile.TemporaryDirectory() as folder,
        SandboxBench(sandbox, instance, instance.image or "", script, Path(folder)) as bench,
    ):
        return bench.view()


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="?", help="none: three real instances, where they are")
    parser.add_argument("instances", nargs="*")
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--show", action="store_true", help="print the prompts as well")
    arguments = parser.parse_args()
    if arguments.rows is None:
        if not ROWS.is_file():
            print("skipped: the real data is not beside the project; or name ROWS yourself, see --help")
            return
        arguments.rows, arguments.instances = str(ROWS), list(SOME)
    benchmark = read_benchmark(arguments.rows)
    name, count = counter()
    sandbox = None if arguments.tree else DockerSandbox(connect(), pull=False)
    print(f"tokens by {name}; bound: by bytes; total: 61 samples, with `n` (4 calls) and without")
    print(f"{'instance':28} {'stage':7} {'ours':>6} {'bound':>6} {'published':>9}")
    for instance_id in arguments.instances or benchmark.instances:
        instance = benchmark.instances[instance_id]
        view = view_of_tree(arguments.tree, instance) if arguments.tree else view_of_image(instance, sandbox)
        report(instance_id, prompts_of(instance, view), count, show=arguments.show)


def report(instance_id: str, prompts: Mapping[str, Sequence[Message]], count: Count, *, show: bool) -> None:
    """The rows of one instance."""
    published = PUBLISHED if instance_id == "pytest-dev__pytest-5227" else {}
    tokens = {}
    for stage, messages in prompts.items():
        tokens[stage] = sum(count(message.content) + 3 for message in messages) + 3
        bound = token_bound(*(message.content for message in messages))
        print(f"{instance_id:28} {stage:7} {tokens[stage]:6} {bound:6} {published.get(stage, ''):>9}")
        if show:
            print(messages[-1].content)
    located = sum(size for stage, size in tokens.items() if stage != "write")
    steps = schedule_of(Profile.PAPER)
    samples = sum(step.samples for step in steps)
    print(
        f"{instance_id:28} localisation {located}, with n {located + len(steps) * tokens['write']}, "
        f"without {located + samples * tokens['write']}"
    )
    if published:
        theirs = sum(size for stage, size in published.items() if stage != "write")
        print(
            f"{'published':28} localisation {theirs}, 61 single calls {theirs + samples * published['write']}"
        )


if __name__ == "__main__":
    sys.exit(main())
