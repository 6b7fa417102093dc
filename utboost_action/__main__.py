"""The entry point, before anything is imported that takes time: a stop during the imports is one line too."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """The command line; SIGTERM and Ctrl-C end it with one line and exit code 1."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from utboost_action import cli

        cli.main()
    except KeyboardInterrupt:
        print("utboost-action: stopped by the user", file=sys.stderr)  # noqa: T201
        sys.exit(1)


if __name__ == "__main__":
    main()
