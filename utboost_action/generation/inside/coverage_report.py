"""Inside the sandbox: prints which watched lines hold code and which ran, as one JSON object.

Argument: a JSON object path -> lines. Output: path -> {"executable": [...], "hit": [...]}.
"""

import json
import os
import sys

import utboost_tracer

with open(sys.argv[1]) as listing:  # noqa: PTH123
    watched = json.load(listing)
hits = {}
folder = os.path.join(utboost_tracer.HERE, "hits")  # noqa: PTH118
for name in os.listdir(folder):  # noqa: PTH208
    with open(os.path.join(folder, name)) as noted:  # noqa: PTH118, PTH123
        for line in noted:
            path, _, number = line.rstrip("\n").partition("\t")
            hits.setdefault(path, set()).add(int(number))
report = {}
for path, lines in watched.items():
    try:
        code = utboost_tracer.executable_lines(path)
    except (OSError, SyntaxError, ValueError):
        continue
    wanted = sorted(set(lines) & code)
    report[path] = {"executable": wanted, "hit": sorted(hits.get(os.path.realpath(path), set()) & set(wanted))}
print(json.dumps(report))  # noqa: T201
