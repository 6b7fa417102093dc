"""Boxes of an engine that stops, hesitates or does not answer; the engine is a stand-in."""

from __future__ import annotations

from types import SimpleNamespace

import docker.errors
import pytest
import requests.exceptions

from utboost_action.errors import EngineUnavailableError, SandboxError
from utboost_action.execution import docker_sandbox
from utboost_action.execution.docker_sandbox import DockerSandbox
from utboost_action.model import RunState

SILENT = requests.exceptions.ReadTimeout("no answer")


class Container:
    """A container that records what is done to it; `on_start` runs while it starts."""

    def __init__(self, on_start=lambda: None, removals=()) -> None:
        self.done: list[str] = []
        self._on_start, self._removals = on_start, list(removals)
        self.id = "c"

    def start(self) -> None:
        self._on_start()
        self.done.append("start")

    def kill(self) -> None:
        self.done.append("kill")
        if "start" not in self.done:
            raise docker.errors.APIError("409: not running")

    def remove(self, force: bool) -> None:
        assert force
        self.done.append("remove")
        if self._removals:
            raise self._removals.pop(0)


def sandbox(create=None, **client) -> DockerSandbox:
    containers = SimpleNamespace(create=lambda *_a, **_k: create() if callable(create) else create)
    return DockerSandbox(SimpleNamespace(containers=containers, **client))


def test_a_box_that_is_being_made_when_the_audit_stops_does_not_work_on():
    made = []

    def create():
        place.stop_all()  # while the engine is busy with it
        made.append(Container())
        return made[0]

    place = sandbox(create)
    with pytest.raises(SandboxError, match="being stopped"):
        place.box("image").__enter__()
    assert made[0].done[-1] == "remove"


def test_a_box_that_is_killed_before_it_starts_does_not_work_on():
    container = Container(on_start=lambda: place.stop_all())
    place = sandbox(container)
    with pytest.raises(SandboxError, match="being stopped"):
        place.box("image").__enter__()
    assert container.done == ["kill", "start", "remove"]


def test_stopping_reaches_every_box_whatever_one_of_them_does():
    boxes = [sandbox().box("image") for _ in range(3)]
    place = boxes[0]._sandbox
    killed = []
    for number, box in enumerate(boxes):
        place._register(box)

        def kill(number=number):
            killed.append(number)
            raise SILENT

        box._container = SimpleNamespace(kill=kill)
    place.stop_all()
    assert sorted(killed) == [0, 1, 2]
    assert {box._verdict for box in boxes} == {RunState.KILLED}


def test_a_removal_is_tried_until_the_container_is_gone(monkeypatch):
    monkeypatch.setattr(docker_sandbox.time, "sleep", lambda _seconds: None)
    busy = docker.errors.APIError("409: removal is already in progress")
    container = Container(removals=[SILENT, busy, docker.errors.NotFound("gone")])
    with sandbox(container).box("image"):
        pass
    assert container.done == ["start", "remove", "remove", "remove"]


def test_an_engine_that_never_removes_does_not_end_the_audit(monkeypatch):
    monkeypatch.setattr(docker_sandbox, "_REMOVAL", 0.0)
    monkeypatch.setattr(docker_sandbox.time, "sleep", lambda _seconds: None)
    container = Container(removals=[SILENT] * 50)
    with sandbox(container).box("image"):
        pass
    assert container.done.count("remove") < 50


def _silent(*_arguments, **_options):
    raise SILENT


def test_an_engine_that_does_not_answer_is_an_error_of_its_own_kind():
    images = SimpleNamespace(get=_silent, remove=_silent)
    place = sandbox(images=images)
    place.remove_images = True
    with pytest.raises(SandboxError, match="does not answer"):
        place.image_id("image")
    place.discard("image")  # nothing to say: the image stays
    place.client.containers.list = _silent
    with pytest.raises(EngineUnavailableError, match="lists no containers"):
        place.remove_leftovers()
