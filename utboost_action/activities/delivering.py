"""Writing back what an audit found: summary, outputs and annotations first, then what needs permission."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from utboost_action.activities import texts
from utboost_action.activities.data import (
    board_paths,
    data_branch,
    generated_tests,
    pull_paths,
    with_durations,
)
from utboost_action.activities.step import Ending, Result, Step
from utboost_action.activities.targets import BoardTarget, PullTarget
from utboost_action.github.annotations import write_annotations
from utboost_action.github.badges import badge_json
from utboost_action.github.client import Api
from utboost_action.github.commands import Reaction, react
from utboost_action.github.comment import post_comment
from utboost_action.github.data_branch import DataTree
from utboost_action.github.delivery import Delivery, Surface, deliver, refusals
from utboost_action.github.pull_request import require_head
from utboost_action.github.status import StatusState, set_status
from utboost_action.github.summary import write_summary
from utboost_action.sharding import Reports
from utboost_action.storage import canonical_json

Steps = list[tuple[Surface, Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What an audit comes to: how the step ends if everything can be said, and the status' colour."""

    ending: Ending
    state: StatusState


def announce(step: Step, api: Api, target: PullTarget, reports: Reports) -> Result:
    """Say on the pull request what was found. Raises SupersededError when the head has moved on."""
    judged = _judged(reports)
    shown = texts.levels(reports, step.settings.template, step.run_url)
    line = texts.headline(reports)
    step.say(line)
    write_annotations(texts.finding_annotations(reports), step.stream)
    require_head(api, target.repository, target.number, target.head_sha)
    posted: dict[str, str] = {}
    steps: Steps = _summary(step, shown)
    if not target.dry_run:
        if step.settings.action.comment:
            steps.append((Surface.COMMENT, lambda: _comment(api, target, shown, posted)))
        if step.settings.action.status and target.comment_key == "audit":
            steps.append((Surface.STATUS, lambda: _status(step, api, target, judged.state, line)))
        if step.settings.action.data_branch and not target.instances:
            steps.append((Surface.DATA, lambda: _publish(step, api, target, reports)))
        if target.command is not None:
            comment_id = target.command
            steps.append((Surface.REACTION, lambda: react(api, target.repository, comment_id, Reaction.DONE)))
    return _result(step, judged, line, deliver(steps), texts.outputs(reports, step.settings.out) | posted)


def announce_nothing(step: Step, api: Api, target: PullTarget, lines: tuple[str, ...]) -> Result:
    """Say that a pull request holds no submission, so that a required status does not wait for ever."""
    require_head(api, target.repository, target.number, target.head_sha)
    message = "no submission in this pull request"
    steps: Steps = _summary(step, texts.plain_levels("UTBoost audit: no submission", lines or (message,)))
    judged = _Verdict(Ending.NEUTRAL, StatusState.SUCCESS)
    if step.settings.action.status and not target.read_only and not target.dry_run:
        steps.append((Surface.STATUS, lambda: _status(step, api, target, judged.state, message)))
    return _result(step, judged, message, deliver(steps), {"head-sha": target.head_sha, "submissions": "0"})


def publish(step: Step, api: Api, target: BoardTarget, reports: Reports) -> Result:
    """Say in the summary, and on the data branch, what an audit of the board's own submissions found."""
    judged = _judged(reports)
    shown = texts.levels(reports, step.settings.template, step.run_url)
    line = texts.headline(reports)
    step.say(line)
    steps: Steps = _summary(step, shown)
    if step.settings.action.data_branch and not target.dry_run and not target.instances:
        steps.append((Surface.DATA, lambda: _publish(step, api, target, reports)))
    return _result(step, judged, line, deliver(steps), texts.outputs(reports, step.settings.out))


def _judged(reports: Reports) -> _Verdict:
    codes = {outcome.exit_code for outcome in reports.outcomes}
    if 1 in codes or (reports.plan.not_audited and not codes):
        return _Verdict(Ending.INCOMPLETE, StatusState.ERROR)
    if 3 in codes:
        return _Verdict(Ending.FLAGGED, StatusState.FAILURE)
    return _Verdict(Ending.DONE, StatusState.SUCCESS)


def _result(
    step: Step,
    judged: _Verdict,
    line: str,
    done: tuple[Delivery, ...],
    outputs: Mapping[str, str],
) -> Result:
    refused = refusals(done)
    write_annotations(refused, step.stream)
    ending = judged.ending
    if refused and ending.exit_code != 1:
        ending = Ending.NOT_DELIVERED
    names = ", ".join(
        f"{delivery.surface} ({delivery.obstacle or 'failed'})" for delivery in done if not delivery.written
    )
    if names:
        _append_summary(step, "What could not be written", (names,))
    return Result(ending, f"{line}; not written: {names}" if names else line, outputs)


def _summary(step: Step, shown: list[str]) -> Steps:
    path = step.file("GITHUB_STEP_SUMMARY")
    return [(Surface.SUMMARY, lambda: write_summary(path, shown))] if path else []


def _append_summary(step: Step, title: str, lines: tuple[str, ...]) -> None:
    if path := step.file("GITHUB_STEP_SUMMARY"):
        write_summary(path, texts.plain_levels(title, lines))


def _comment(api: Api, target: PullTarget, shown: list[str], posted: dict[str, str]) -> None:
    found = post_comment(api, target.repository, target.number, target.comment_key, shown)
    posted["comment-url"] = found.url


def _status(step: Step, api: Api, target: PullTarget, state: StatusState, line: str) -> None:
    set_status(api, target.repository, target.head_sha, state, line, step.run_url)


def _publish(step: Step, api: Api, target: PullTarget | BoardTarget, reports: Reports) -> None:
    def write(tree: DataTree) -> Mapping[str, bytes | None]:
        found: dict[str, bytes | None] = with_durations(tree, reports.seconds)
        for submitted, outcome in zip(reports.plan.submissions, reports.outcomes, strict=True):
            badge = badge_json(texts.badge_of(outcome)).encode()
            text = canonical_json(outcome.document).encode("utf-8", "backslashreplace")
            if isinstance(target, BoardTarget):
                places = board_paths(submitted.path)
            else:
                places = pull_paths(target.number, submitted.path)
            found |= dict(zip(places, (text, badge, f"{submitted.tree}\n".encode()), strict=True))
        return found | generated_tests(tree, reports.plan)

    what = f"pull request #{target.number}" if isinstance(target, PullTarget) else "the board's submissions"
    data_branch(step, api, target.repository, write, f"Audit of {what}")
