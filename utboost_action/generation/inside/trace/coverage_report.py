# mypy: ignore-errors
"""Inside the sandbox: prints which watched lines hold code and which ran, as one JSON object.

Output: path -> {"executable": [...], "hit": [...]}, the paths as they were given.
"""

import json
import os

import utboost_tracer

hits = {}
folder = os.path.join(utboost_tracer.HERE, "hits")  # noqa: PTH118
for name in os.listdir(folder):  # noqa: PTH208
    with open(os.path.join(folder, name)) as noted:  # noqa: PTH118, PTH123
        for line in noted:
            path, _, number = line.rstrip("\n").partition("\t")
            if number:
                hits.setdefault(path, set()).add(int(number))
report = {}
for real, (path, lines) in utboost_tracer.watched_lines().items():
    try:
        code = utboost_tracer.executable_lines(real)
    except (OSError, SyntaxError, ValueError):
        continue
    wanted = sorted(lines & code)
    report[path] = {"executable": wanted, "hit": sorted(hits.get(real, set()) & set(wanted))}
print(json.dumps(report))  # noqa: T201
