"""Starts the action inside its image, whatever earlier steps left in the environment.

The image's ENTRYPOINT is an absolute interpreter in isolated mode, so PYTHONPATH and the work folder have
no say; here PATH and HOME get values of our own before anything is imported that could look at them.
With arguments it is the command line (`docker run IMAGE demo`), without it is a step of a workflow.
"""

import os
import sys

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOME = "/opt/utboost/home"  # root's own; the one that the runner names belongs to another user
_LEAKING = ("PYTHON", "LD_", "GIT_", "XDG_", "pythonLocation", "Python_ROOT", "Python2_ROOT", "Python3_ROOT")


def prepare(environ):
    """Reset what could steer this process or the ones that it starts. environ: changed in place."""
    for name in list(environ):
        if name.startswith(_LEAKING):
            del environ[name]
    environ["PATH"] = PATH
    environ["HOME"] = HOME


if __name__ == "__main__":
    prepare(os.environ)
    if sys.argv[1:]:
        from utboost_action.__main__ import main
    else:
        from utboost_action.main import main
    sys.exit(main())
