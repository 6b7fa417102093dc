"""What a new test may not do, read off its syntax: the sandbox would only show it by chance."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

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
_SLEEPS = frozenset(
    ("time.sleep", "asyncio.sleep", "trio.sleep", "anyio.sleep", "gevent.sleep", "eventlet.sleep")
)
_CLOCKS = frozenset(("time.time", "time.time_ns", "time.monotonic", "time.perf_counter", "time.ctime"))
_NOW = frozenset(
    f"{owner}.{name}"
    for owner in ("datetime.datetime", "datetime.date", "datetime")
    for name in ("now", "utcnow", "today")
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
        (Gate.CLOCK, _clock),
        (Gate.RANDOMNESS, _random),
        (Gate.ABSOLUTE_PATH, _absolute),
        (Gate.WRITES, _writes),
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
    for name, _call in _calls(nodes):
        last = name.rpartition(".")[2]
        if last in _NETWORK_CALLS:
            yield f"calls {name}"
        if name.split(".")[0] in ("requests", "httpx") and last in _HTTP_VERBS:
            yield f"calls {name}"


def _sleeps(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    naps = 0
    for name, call in _calls(nodes):
        if name in _SLEEPS:
            if not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0):
                yield f"calls {name}"
            naps += 1
    if sum(name in _SLEEPS for name in _used(nodes)) > naps:
        yield "keeps a function that sleeps under another name"


def _clock(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for name, call in _calls(nodes):
        if name in _CLOCKS or name in _NOW:
            yield f"calls {name}"
        if name in ("time.localtime", "time.gmtime") and not call.args:
            yield f"calls {name}"


def _writes(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for name, call in _calls(nodes):
        if name not in ("open", "io.open", "codecs.open") or not call.args:
            continue
        mode = next((one.value for one in call.keywords if one.arg == "mode"), None)
        mode = call.args[1] if len(call.args) > 1 else mode
        where = call.args[0]
        if (
            isinstance(where, ast.Constant)
            and isinstance(where.value, str)
            and isinstance(mode, ast.Constant)
            and set(str(mode.value)) & set("wax+")
        ):
            yield f"opens {where.value[:80]!a} to write"


def _random(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    seeded = False
    for name, call in _calls(nodes):
        source, _, last = name.rpartition(".")
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        known = bool(given) and not (isinstance(given[0], ast.Constant) and given[0].value is None)
        if last in ("seed", "Random", "RandomState", "default_rng", "PRNGKey") and known:
            seeded = True
    for name, call in _calls(nodes):
        source, _, last = name.rpartition(".")
        if name in _ALWAYS_RANDOM or (source == "secrets"):
            yield f"calls {name}"
        elif not seeded and (
            (source in _RANDOM_SOURCES and last in _RANDOM_CALLS)
            or (last in ("default_rng", "RandomState") and not call.args and not call.keywords)
            or (name == "random.Random" and not call.args and not call.keywords)
        ):
            yield f"calls {name} without a seed"
    if not seeded:
        for node in _walk(nodes):
            if (
                isinstance(node, ast.ImportFrom)
                and not node.level
                and node.module in _RANDOM_SOURCES
                and node.module != "uuid"
            ):
                yield f"imports from {node.module} without a seed"


def _absolute(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    requests = {  # paths of URLs: client.get("/home/")
        id(call.args[0])
        for name, call in _calls(nodes)
        if call.args and name.rpartition(".")[2] in _HTTP_VERBS and "client" in name
    }
    for node in _walk(nodes):
        if id(node) in requests:
            continue
        value = node.value if isinstance(node, ast.Constant) else None
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if isinstance(text, str) and _ABSOLUTE.match(text):
            yield f"names the path {text[:80]!a}"


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
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            name = _dotted(node.value if isinstance(node, ast.Subscript) else node)
            if name.startswith("sys.") or name == "os.environ" or name.endswith(".__code__"):
                yield f"sets {name}"


def _skips(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    """Decorators, calls and raised names that skip; a variable or another object's method is none."""
    aliases = _aliases(nodes)
    for node in _walk(nodes):
        meant: list[ast.AST] = list(getattr(node, "decorator_list", []))
        meant += [node.func] if isinstance(node, ast.Call) else []
        meant += [node.exc] if isinstance(node, ast.Raise) and node.exc is not None else []
        meant += node.args if isinstance(node, ast.Call) else []  # pytest.param(..., marks=pytest.mark.skip)
        meant += [keyword.value for keyword in node.keywords] if isinstance(node, ast.Call) else []
        for one in meant:
            name = _resolved(_dotted(one.func if isinstance(one, ast.Call) else one), aliases)
            known = name.startswith(("pytest.", "unittest.", "self."))
            is_argument = isinstance(node, ast.Call) and one is not node.func
            is_method = isinstance(node, ast.Call) and "." in name  # lexer.skip(2)
            if name.rpartition(".")[2] in _SKIPS and (known or not (is_argument or is_method)):
                yield f"uses {name}"


def _imported(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    for node in _walk(nodes):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for name, call in _calls(nodes):
        first = call.args[0] if call.args else None
        if name in ("__import__", "importlib.import_module") and isinstance(first, ast.Constant):
            yield str(first.value)


def _calls(nodes: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.Call]]:
    aliases = _aliases(nodes)
    for node in _walk(nodes):
        if isinstance(node, ast.Call) and (name := _dotted(node.func)):
            yield _resolved(name, aliases), node


def _used(nodes: Sequence[ast.stmt]) -> Iterator[str]:
    """Every name and chain of attributes that is read, called or not."""
    aliases = _aliases(nodes)
    for node in _walk(nodes):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            yield _resolved(_dotted(node), aliases)


def _aliases(nodes: Sequence[ast.stmt]) -> dict[str, str]:
    """Name -> what it was imported as, where the two differ."""
    found = {}
    for node in _walk(nodes):
        if isinstance(node, ast.Import):
            found.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return found


def _resolved(name: str, aliases: Mapping[str, str]) -> str:
    head, dot, rest = name.partition(".")
    return aliases.get(head, head) + dot + rest


def _dotted(node: ast.AST) -> str:
    """`a.b.c` of a chain of attributes; of a chain that starts with something else, its named end."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call) and _is_getattr(node):
            parts.append(str(node.args[1].value))  # type: ignore[attr-defined]
            node = node.args[0]
        else:
            break
    parts += [node.id] if isinstance(node, ast.Name) else []
    return ".".join(reversed(parts))


def _is_getattr(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    )


def _walk(nodes: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for node in nodes:
        yield from ast.walk(node)
