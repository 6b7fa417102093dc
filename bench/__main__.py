"""`python -m bench [NAME ...]`: run the named measurements, or all; each module has a `main()`."""

import importlib
import pkgutil
import sys

import bench


def _run(names: list[str]) -> None:
    known = [module.name for module in pkgutil.iter_modules(bench.__path__) if module.name != "__main__"]
    sys.argv[1:] = []  # the names are ours; a module reads its own arguments when it is run alone
    for name in names or known:
        if name not in known:
            sys.exit(f"bench: no measurement {name!r}; known: {', '.join(known)}")
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"bench.{name}").main()


_run(sys.argv[1:])
