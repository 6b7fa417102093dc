"""What a new test may not do, read off its syntax: the sandbox would only show it by chance."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from utboost_action.generation.gates import Gate, RejectedError
from utboost_action.generation.units import Unit

_NETWORK_MODULES = frozenset(
    (
        "socket",
        "ssl",
        "ftplib",
        "smtplib",
        "poplib",
        "imaplib",
        "telnetlib",
        "nntplib",
        "xmlrpc",
        "http.client",
        "http.server",
        "socketserver",
        "urllib.request",
        "urllib3",
        "httpx",
        "aiohttp",
        "websockets",
        "paramiko",
    )
)
_NETWORK_CALLS = frozenset(("urlopen", "urlretrieve", "create_connection", "open_connection", "getaddrinfo"))
_HTTP_VERBS = frozenset(("get", "post", "put", "delete", "head", "patch", "options", "request"))
_RANDOM_CALLS = frozenset(
    (
        "random",
        "randint",
        "randrange",
        "choice",
        "choices",
        "shuffle",
        "sample",
        "uniform",
        "gauss",
        "rand",
        "randn",
        "normal",
        "permutation",
        "random_sample",
        "standard_normal",
        "integers",
        "getrandbits",
        "normalvariate",
        "betavariate",
    )
)
_RANDOM_SOURCES = frozenset(("random", "np.random", "numpy.random", "secrets", "uuid"))
_ALWAYS_RANDOM = frozenset(
    ("uuid.uuid1", "uuid.uuid4", "os.urandom", "random.SystemRandom", "secrets.token_hex")
)
_SKIPS = frozenset(
    (
        "skip",
        "skipif",
        "xfail",
        "skipIf",
        "skipUnless",
        "skipTest",
        "expectedFailure",
        "SKIP",
        "XFAIL",
        "SkipTest",
        "skipIfDBFeature",
        "skipUnlessDBFeature",
    )
)
_ABSOLUTE = re.compile(
    r"(?:/(?:bin|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|testbed|tmp|usr|var|Users|work|workspace)(?:/|$)"
    r"|[A-Za-z]:\\|~/|file:///)"
)


def check_unit(unit: Unit) -> None:
    """Raise RejectedError for the first rule that the unit's test, helpers or imports break."""
    for gate, rule in (
        (Gate.NETWORK, _network),
        (Gate.SLEEP, _sleeps),
        (Gate.RANDOMNESS, _random),
        (Gate.ABSOLUTE_PATH, _absolute),
        (Gate.RUNNER_CONFIGURATION, _steers),
        (Gate.SKIPPED, _skips),
    ):
        found = next(rule([addition.node for addition in unit.additions]), None)
        if found is not None:
            raise RejectedError(gate, found)


def _network(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for module in _imported(nodes):
        if module in _NETWORK_MODULES or module.split(".")[0] in _NETWORK_MODULES:
            yield f"imports {module}"
    for name, call in _calls(nodes):
        last = name.rpartition(".")[2]
        if last in _NETWORK_CALLS:
            yield f"calls {name}"
        if name.split(".")[0] in ("requests", "httpx") and last in _HTTP_VERBS and call.args:
            yield f"calls {name}"


def _sleeps(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for name, _call in _calls(nodes):
        if name.rpartition(".")[2] == "sleep":
            yield f"calls {name}"


def _random(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    seeded = False
    for name, call in _calls(nodes):
        source, _, last = name.rpartition(".")
        if last == "seed" or (last in ("Random", "RandomState", "default_rng", "PRNGKey") and call.args):
            seeded = True
    for name, call in _calls(nodes):
        source, _, last = name.rpartition(".")
        if name in _ALWAYS_RANDOM or (source == "secrets"):
            yield f"calls {name}"
        elif not seeded and (
            (source in _RANDOM_SOURCES and last in _RANDOM_CALLS)
            or (last in ("default_rng", "RandomState") and not call.args and not call.keywords)
        ):
            yield f"calls {name} without a seed"
    if not seeded:
        for node in _walk(nodes):
            if isinstance(node, ast.ImportFrom) and node.module in _RANDOM_SOURCES and node.module != "uuid":
                yield f"imports from {node.module} without a seed"


def _absolute(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for node in _walk(nodes):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _ABSOLUTE.match(node.value):
            yield f"names the path {node.value[:80]!a}"


def _steers(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    """Changes to the interpreter, the environment's import path or the runner, which outlive the test."""
    for name, _call in _calls(nodes):
        if name in (
            "os.chdir",
            "os.putenv",
            "sys.path.insert",
            "sys.path.append",
            "sys.exit",
            "os._exit",
            "exit",
        ):
            yield f"calls {name}"
        if name in ("pytest.exit", "os.kill", "os.abort", "sys.settrace", "pytest.main"):
            yield f"calls {name}"
    for node in _walk(nodes):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and _dotted(node).startswith("sys.")
        ):
            yield f"sets {_dotted(node)}"


def _skips(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for node in _walk(nodes):
        if isinstance(node, ast.Attribute | ast.Name) and _dotted(node).rpartition(".")[2] in _SKIPS:
            yield f"uses {_dotted(node)}"


def _imported(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for node in _walk(nodes):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _calls(nodes: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.Call]]:
    for node in _walk(nodes):
        if isinstance(node, ast.Call) and (name := _dotted(node.func)):
            yield name, node


def _dotted(node: ast.AST) -> str:
    """`a.b.c` of a chain of attributes; of a chain that starts with something else, its named end."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts += [node.id] if isinstance(node, ast.Name) else []
    return ".".join(reversed(parts))


def _walk(nodes: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for node in nodes:
        yield from ast.walk(node)
