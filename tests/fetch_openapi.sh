#!/bin/sh
# Fetches GitHub's OpenAPI description and the example events (npm packages of octokit) into a folder
# outside of the repository, and prints the two variables that the tests look for.
# Usage: eval "$(tests/fetch_openapi.sh [FOLDER])"
set -eu
folder=${1:-${TMPDIR:-/tmp}/utboost-openapi}
mkdir -p "$folder"
cd "$folder"
[ -f openapi.json ] || {
    npm pack --silent @octokit/openapi@23.0.2 >&2
    tar -xzOf octokit-openapi-23.0.2.tgz package/generated/api.github.com.json >openapi.part
    mv openapi.part openapi.json
    rm -f octokit-openapi-23.0.2.tgz
}
[ -f webhooks.json ] || {
    npm pack --silent @octokit/webhooks-examples@7.6.1 >&2
    tar -xzOf octokit-webhooks-examples-7.6.1.tgz package/api.github.com/index.json >webhooks.part
    mv webhooks.part webhooks.json
    rm -f octokit-webhooks-examples-7.6.1.tgz
}
printf 'export UTBOOST_OPENAPI=%s/openapi.json UTBOOST_WEBHOOKS=%s/webhooks.json\n' "$folder" "$folder"
