# mypy: ignore-errors
"""Inside the sandbox: notes which lines of some files run, from `sitecustomize` of every Python process.

`trace.json` beside this file holds `{path: [line, ...]}`, the lines to watch, and `top` the folder that
the paths are relative to. Each process that ran one of them leaves `hits/PID`, lines of
`path<TAB>number`.
"""

import json
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (as early and as light as can be)


def watched_lines():
    """Real path -> (path as given, set of its watched lines)."""
    with open(os.path.join(HERE, "trace.json")) as file:  # noqa: PTH118, PTH123
        listed = json.load(file)
    with open(os.path.join(HERE, "top")) as file:  # noqa: PTH118, PTH123
        top = file.read().rstrip("\n")
    joined = {path: os.path.realpath(os.path.join(top, path)) for path in listed}  # noqa: PTH118
    return {real: (path, set(listed[path])) for path, real in joined.items()}


def executable_lines(path):
    """The lines of a file that hold code, by this Python's own compiler."""
    with open(path, "rb") as file:  # noqa: PTH123
        code = compile(file.read(), path, "exec", dont_inherit=True)
    import dis

    found = set()
    codes = [code]
    while codes:
        one = codes.pop()
        found.update(line for _, line in dis.findlinestarts(one) if line)
        codes += [const for const in one.co_consts if isinstance(const, type(code))]
    return found


def install():
    """Watch from now on, in all threads, if there is a list of lines."""
    try:
        watched = {real: lines for real, (_, lines) in watched_lines().items()}
    except (OSError, ValueError):
        return
    known = {}
    out = os.path.join(HERE, "hits", str(os.getpid()))  # noqa: PTH118

    def lines_of(name):
        if name not in known:
            known[name] = watched.get(os.path.realpath(name)) if name[:1] != "<" else None
        return known[name]

    def hit(name, number):
        left = lines_of(name)
        if left and number in left:
            left.discard(number)
            with open(out, "a") as file:  # noqa: PTH123
                file.write("\t".join((os.path.realpath(name), str(number))) + "\n")

    def local(frame, event, _argument):
        if event == "line":
            hit(frame.f_code.co_filename, frame.f_lineno)
        return local

    def start(frame, _event, _argument):
        if lines_of(frame.f_code.co_filename):
            hit(frame.f_code.co_filename, frame.f_lineno)
            return local
        return None

    threading.settrace(start)
    sys.settrace(start)
