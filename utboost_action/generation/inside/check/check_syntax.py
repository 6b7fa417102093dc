# mypy: ignore-errors
"""Inside the sandbox: compiles files with the instance's Python. Arguments: a JSON list of [key, path].

Prints one JSON object, key -> problem, for those that do not compile.
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")
with open(sys.argv[1]) as listing:  # noqa: PTH123
    pairs = json.load(listing)
problems = {}
for key, path in pairs:
    try:
        with open(path, "rb") as source:  # noqa: PTH123
            compile(source.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as problem:
        problems[key] = str(problem)
print(json.dumps(problems))  # noqa: T201
