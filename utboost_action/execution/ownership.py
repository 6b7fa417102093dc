"""Whose a container is: a label that tells a living audit from one that was killed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from utboost_action.storage import content_key


def owner() -> str:
    """Boot, process namespace, process and its start: whose a container is, also where numbers repeat."""
    return f"{processes()}:{os.getpid()}:{process_start(os.getpid())}"


def processes() -> str:
    """What a process number means here: the boot and the process namespace (a container has its own)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}".replace(":", "")
    except OSError:
        return socket.gethostname()


def name_part() -> str:
    """The owner as a part of a file's name: no dot, no colon."""
    namespace, pid, start = owner().rsplit(":", 2)
    return f"{content_key(namespace)[:12]}-{pid}-{start}"


def is_orphans(part: str) -> bool:
    """`is_orphan` for a `name_part`."""
    seen_by, pid, start = (*part.split("-"), "", "")[:3]
    return seen_by == content_key(processes())[:12] and pid.isdigit() and process_start(int(pid)) != start


def is_orphan(label: str) -> bool:
    """Whether a label names a process that we would see, and that is no more."""
    seen_by, _, process = label.partition(":")
    pid, _, start = process.partition(":")
    if seen_by != processes() or not pid.isdigit():
        return False
    return process_start(int(pid)) != start


def process_start(pid: int) -> str:
    """The start time of a process in clock ticks since boot, empty when there is none (Linux /proc)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
