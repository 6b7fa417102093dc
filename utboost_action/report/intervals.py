"""Intervals for rates: Wilson's for a count, a stratified estimate where only a sample was audited."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054  # the standard normal's 97.5 % point: intervals of 95 %


@dataclass(frozen=True, slots=True)
class Interval:
    """Two proportions, 0 to 1, low first."""

    low: float
    high: float


def wilson(successes: float, trials: float, z: float = Z95) -> Interval:
    """Wilson's score interval of a proportion (Wilson 1927); 0 to 1 where nothing was tried.

    Fractions are allowed: an effective sample size need not be whole. Raises ValueError for counts that
    are none.
    """
    if trials < 0 or not 0 <= successes <= trials:
        raise ValueError(f"no counts: {successes} of {trials}")
    if trials == 0:
        return Interval(0.0, 1.0)
    share, square = successes / trials, z * z
    centre = share + square / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    scale = 1 + square / trials
    return Interval(max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale))


@dataclass(frozen=True, slots=True)
class Stratum:
    """One repository: how many instances there are, how many were audited, how many of those succeed."""

    size: int
    audited: int
    successes: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A proportion of the whole, estimated from a sample, with its 95 % interval."""

    share: float
    interval: Interval
    audited: int
    size: int


def estimate(strata: Sequence[Stratum]) -> Estimate:
    """The whole's proportion from a sample stratified by repository.

    Each stratum counts by its size. The interval is Wilson's at the effective sample size of the
    stratified variance, with the finite population's correction: where everything was audited it has no
    width. A stratum without a sample is taken to be like the rest, and widens the interval. Raises
    ValueError for counts that are none.
    """
    for stratum in strata:
        if not 0 <= stratum.successes <= stratum.audited <= stratum.size:
            raise ValueError(f"no counts: {stratum}")
    size = sum(stratum.size for stratum in strata)
    audited = sum(stratum.audited for stratum in strata)
    seen = [stratum for stratum in strata if stratum.audited]
    known = sum(stratum.size for stratum in seen)
    if not size or not known:
        return Estimate(0.0, Interval(0.0, 1.0), audited, size)
    share = sum(s.size * s.successes / s.audited for s in seen) / known
    if audited == size:
        return Estimate(share, Interval(share, share), audited, size)
    variance = 0.0
    for s in seen:
        p = (s.successes + 1) / (s.audited + 2)  # Laplace: a sample without a failure is not certain
        variance += (s.size / known) ** 2 * p * (1 - p) / s.audited * (1 - s.audited / s.size)
    pooled = (sum(s.successes for s in seen) + 1) / (audited + 2)
    effective = pooled * (1 - pooled) / variance if variance else float(known)
    effective = min(effective * known / size, 1e9)  # what no stratum speaks for
    return Estimate(share, wilson(share * effective, effective), audited, size)


def draw_sample(repositories: Mapping[str, str], size: int, seed: str) -> tuple[str, ...]:
    """`size` instances, stratified by repository, drawn by a seed (the head's sha): sorted ids.

    repositories: instance id -> repository. Each repository gets its share, the remainders by size (largest
    remainder); inside one, the order is that of SHA-256 over seed and id, so anybody can draw it again.
    Raises ValueError for a size below 0.
    """
    if size < 0:
        raise ValueError(f"a sample of {size}")
    strata: dict[str, list[str]] = {}
    for instance_id, repository in sorted(repositories.items()):
        strata.setdefault(repository, []).append(instance_id)
    size = min(size, len(repositories))
    exact = {repo: size * len(ids) / len(repositories) for repo, ids in strata.items()}
    quota = {repo: int(share) for repo, share in exact.items()}
    by_remainder = sorted(strata, key=lambda repo: (quota[repo] - exact[repo], _order(seed, repo)))
    for repo in by_remainder[: size - sum(quota.values())]:
        quota[repo] += 1
    chosen = [
        name
        for repo, ids in strata.items()
        for name in sorted(ids, key=lambda name: _order(seed, name))[: quota[repo]]
    ]
    return tuple(sorted(chosen))


def _order(seed: str, name: str) -> str:
    return hashlib.sha256(f"{seed}\0{name}".encode()).hexdigest()
