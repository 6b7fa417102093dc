# The action's image: the command line with its locked requirements. The base is pinned by a build argument.
ARG BASE=python:3.13-slim-bookworm
FROM ${BASE}

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/utboost
COPY requirements.txt pyproject.toml README.md LICENSE ./
COPY utboost_action ./utboost_action
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt \
    && /opt/venv/bin/pip install --no-cache-dir hatchling==1.33.0 \
    && /opt/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && git config --system --add safe.directory '*'

ENTRYPOINT ["/opt/venv/bin/utboost-action"]
