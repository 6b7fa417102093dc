"""The errors of the project: each message is one line that says what, where and what to do."""

from __future__ import annotations


class AuditError(Exception):
    """The audit could not be done (exit code 1)."""

    exit_code = 1


class InputError(AuditError):
    """The usage or an input is wrong (exit code 2); the message names the input and the mend."""

    exit_code = 2


class StoppedError(AuditError):
    """The user stopped the command."""


class SandboxError(AuditError):
    """The sandbox failed in a way that is not the fault of the patch that ran in it."""


class EngineUnavailableError(SandboxError):
    """No Docker engine answers."""


class ImageMissingError(SandboxError):
    """The image of an instance is neither here nor to be had."""
