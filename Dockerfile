# The action's image: the interpreter's base, git, the locked requirements and the package; no build tools.
# The base is a build argument: releases pin it by digest, machines without a registry name one of their own.
# Only what the legacy builder knows. The container runs as root, since the runner's socket and the mounted
# folders belong to root and to a user whose number differs from machine to machine.
ARG BASE=python:3.13-slim-bookworm

# hadolint ignore=DL3006  # the tag, or the digest, is in the argument
FROM ${BASE} AS build
ARG PIP_OPTIONS=
WORKDIR /build
# the folder "wheels" is there only where pip cannot reach an index
COPY requirements.txt wheel[s] /build/wheels/
# hadolint ignore=SC2086  # the options are words
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/python -I -m pip install --no-cache-dir --disable-pip-version-check \
       --require-hashes -r /build/wheels/requirements.txt ${PIP_OPTIONS} \
    && /opt/venv/bin/python -I -m pip uninstall --yes --disable-pip-version-check pip setuptools
# what no part of the action imports: headers, tests, and Arrow's network file systems
RUN arrow="$(/opt/venv/bin/python -I -c 'import importlib.util as u; print(u.find_spec("pyarrow").submodule_search_locations[0])')" \
    && rm -rf "$arrow/include" "$arrow/tests" "$arrow/src" "$arrow"/*flight* "$arrow"/*s3* \
    && find /opt/venv \( -name '*.pyx' -o -name '*.pxd' -o -name '*.pyi' \) -delete \
    && echo /opt/utboost > "$(dirname "$arrow")/utboost.pth" \
    && /opt/venv/bin/python -I -c 'import pyarrow.parquet'

# hadolint ignore=DL3006  # as above
FROM ${BASE}
# hadolint ignore=DL3008  # the distribution's current git; the image is rebuilt for each release
RUN command -v git >/dev/null \
    || { apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*; } \
    && git config --system --add safe.directory '*' \
    && install -d -m 700 /opt/utboost/home
COPY --from=build /opt/venv /opt/venv
COPY entrypoint.py LICENSE /opt/utboost/
COPY examples /opt/utboost/examples
COPY utboost_action /opt/utboost/utboost_action
RUN /opt/venv/bin/python -I -m compileall -q /opt/utboost/utboost_action
ENTRYPOINT ["/usr/bin/env", "-u", "LD_LIBRARY_PATH", "-u", "LD_PRELOAD", "/opt/venv/bin/python", "-I", "/opt/utboost/entrypoint.py"]
