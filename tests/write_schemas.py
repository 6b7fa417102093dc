"""Writes the schemas of what travels between jobs, from the types (`python tests/write_schemas.py`)."""

import json
from pathlib import Path

from utboost_action.shards import Plan, ShardResult
from utboost_action.typed_json import schema_of

DOCS = Path(__file__).resolve().parents[1] / "docs"


def main() -> None:
    for kind, name in ((Plan, "plan"), (ShardResult, "shard")):
        value = schema_of(kind, f"{name}.json of UTBoost Action")
        (DOCS / f"{name}.schema.json").write_text(json.dumps(value, indent=2) + "\n")


if __name__ == "__main__":
    main()
