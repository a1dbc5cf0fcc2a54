"""Makes the files of vendor facts, or says which would change."""

import argparse
import json
import sys
from pathlib import Path

from . import discovery, lexicons, openapi, overlay, slack, telegram
from .networks import NETWORKS
from .schema import Book, Unreadable, values

FOLDER = Path(__file__).resolve().parents[2] / "sandbox" / "facts"
KINDS = {
    "openapi": openapi, "discovery": discovery, "lexicons": lexicons, "telegram": telegram, "slack": slack,
}


class Missing(Exception):
    """A description that is not in the folder."""


def facts_of(network, folder):
    """Returns the facts of a network."""
    chosen = NETWORKS[network]
    facts = {
        "network": network, "sources": {}, "unknown": {}, "scopes": {}, "operations": [], "types": {}, "nodes": {},
        "metrics": [], "refusals": [],
    }
    for wanted in chosen["descriptions"]:
        path = folder / wanted["file"]
        if not path.is_file():
            raise Missing(f"{network}: {wanted['file']} is missing. It is obtained from {wanted['obtained']}.")
        try:
            read(facts, KINDS[wanted["kind"]].Description(path, wanted), wanted, chosen)
        except Unreadable as error:
            raise Unreadable(f"{network}: {wanted['file']}: {error}") from error
    overlay.add(facts, overlay.read(network))
    return facts


def read(facts, description, wanted, chosen):
    """Adds what one description says."""
    source = wanted["source"]
    made_from = f"{wanted['from']}, {description.version()}"
    facts["sources"][source] = {
        "from": made_from, "seen": wanted["seen"], "basis": "description", "verified": False,
    }
    book = Book(description.schemas, chosen["open"], chosen["depth"], wanted.get("extract", False))
    found = description.operations()
    for one in found:
        for schema in (one.get("query", {}), one["body"].get("schema", {})):
            book.take(schema)
        for schema in one["answers"].values():
            book.take_answer(schema)
    facts["operations"] += [operation(one, book, source, wanted) for one in found]
    for name, schema in book.types().items():
        if facts["types"].setdefault(name, schema) != schema:
            raise Unreadable(f"its type {name} is another than that of a description before it")
    facts["scopes"] |= {name: source for name in description.scopes()}
    for given in wanted.get("metrics", []):
        facts["metrics"] += metrics(given, description, facts, source)
    if hasattr(description, "refusals"):
        facts["refusals"] += description.refusals()


def operation(one, book, source, wanted):
    """Returns an operation as it is stored."""
    made = {"name": one["name"], "method": one["method"], "path": one["path"], "source": source}
    made["scopes"] = one["scopes"]
    if "query" in one:
        made["query"] = book.facts(one["query"])
    body = one["body"]
    made["body"] = body | ({"schema": book.facts(body["schema"])} if "schema" in body else {})
    made["answers"] = {status: book.facts(schema) for status, schema in one["answers"].items()}
    for key in ("headers", "repeated"):
        if key in one:
            made[key] = one[key]
    on = wanted.get("metrics_on", {}).get(one["name"])
    return made | ({"metrics": on} if on else {})


def metrics(given, description, facts, source):
    """Returns the metrics that an enumeration or the fields of a type name."""
    if "type" in given:
        schema = description.schemas[given["type"]]["properties"]
        names = {name: bool(schema[name].get("deprecated")) for name in given.get("only", schema)}
    else:
        found = next(one for one in facts["operations"] if one["name"] == given["operation"])
        schema = found["query"]["properties"][given["parameter"]]
        schema = schema.get("items", schema)
        listed = values(schema) or schema["pattern"].split(")", 1)[0].removeprefix("^(").split("|")
        wanted = [name for name in given.get("only", listed) if name not in given.get("not", [])]
        names = {name: name in schema.get("x-deprecated", []) for name in wanted}
    made = []
    for name, is_old in names.items():
        entry = {"name": name, "on": given["on"], "source": source, "period": given["period"]}
        made.append(entry | ({"deprecated": True} if is_old else {}))
    return made


def written(facts):
    """Returns the text of a file."""
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def main(arguments):
    """Writes the files, or checks them."""
    parser = argparse.ArgumentParser(prog="vendor-facts", description="Makes the files of vendor facts.")
    parser.add_argument("--from", dest="folder", required=True, type=Path, help="folder of the vendors' descriptions")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file would change")
    parser.add_argument("--to", dest="to", type=Path, default=FOLDER, help=argparse.SUPPRESS)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="all, unless named")
    given = parser.parse_args(arguments)
    unknown = [one for one in given.networks if one not in NETWORKS]
    if unknown:
        parser.error(f"no description is read for {', '.join(unknown)}; known: {', '.join(NETWORKS)}")
    failed = False
    for network in given.networks or NETWORKS:
        try:
            text = written(facts_of(network, given.folder))
        except (Missing, Unreadable, overlay.Unsound) as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        path = given.to / f"{network}.json"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if given.check:
            print(f"{path.name} would change")
            failed = True
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path.name} written")
    return 1 if failed else 0
