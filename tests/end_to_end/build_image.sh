#!/usr/bin/env bash
# Builds the action's image on a machine whose containers have no network and that reaches no image
# registry: the base by debootstrap, the wheels by the host's pip. Prints the tag.
# Usage: build_image.sh [TAG]     BASE=image:tag uses another base; nothing is built that is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
tag=${1:-utboost-action:test}
base=${BASE:-utboost-base:bookworm}
python=${PYTHON:-python3}
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

there() { docker image inspect "$1" >/dev/null 2>&1; }

# What the slim Python images hold, and git: no documentation, no locales, no package lists.
make_base() {
  debootstrap --variant=minbase --include=python3,python3-venv,git,ca-certificates bookworm "$context/root" \
    >"$context/debootstrap.log" 2>&1 || { tail -n 20 "$context/debootstrap.log" >&2; return 1; }
  rm -rf "$context"/root/var/cache/apt/* "$context"/root/var/lib/apt/lists/* "$context"/root/var/log/* \
    "$context"/root/usr/share/{doc,man,info,locale}/* "$context"/root/etc/apt/apt.conf.d/*proxy*
  : >"$context/root/etc/apt/sources.list"
  tar -C "$context/root" -c . | docker import --change 'CMD ["bash"]' - "$base" >/dev/null
  rm -rf "$context/root"
}

there "$base" || make_base

content=$(cat Dockerfile entrypoint.py requirements.txt <(find utboost_action -name '*.py' -o -name '*.j2' | sort | xargs cat) \
  <(docker image inspect --format '{{.Id}}' "$base") | sha256sum | cut -c1-32)
if there "$tag" && [ "$(docker image inspect --format '{{index .Config.Labels "content"}}' "$tag")" = "$content" ]; then
  echo "$tag"
  exit 0
fi

mkdir "$context/build"
cp -r Dockerfile entrypoint.py requirements.txt README.md LICENSE utboost_action examples "$context/build/"
find "$context/build" -name __pycache__ -prune -exec rm -rf {} +
wheels=${UTBOOST_WHEELS:-${TMPDIR:-/tmp}/utboost-wheels-$(sha256sum requirements.txt | cut -c1-16)}
if [ ! -f "$wheels/complete" ]; then
  mkdir -p "$wheels"
  "$python" -m pip download -q --disable-pip-version-check --only-binary :all: --python-version 3.11 --no-deps \
    --require-hashes -r requirements.txt -d "$wheels" >&2
  touch "$wheels/complete"
fi
cp -r "$wheels" "$context/build/wheels"
docker build -q --network none --build-arg BASE="$base" --build-arg PIP_OPTIONS="--no-index --find-links /build/wheels" \
  --label content="$content" -t "$tag" "$context/build" >"$context/build.log" 2>&1 \
  || { tail -n 40 "$context/build.log" >&2; exit 1; }
echo "$tag"
