"""Checks the files of vendor facts: `python3 -m vendor_facts.validate [FILE …]`, from `scripts/`."""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "sandbox" / "facts"
BYTES_MAX = 400 * 1024
ALL_BYTES_MAX = 3 * 1024 * 1024
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
BODIES = {"json", "form", "multipart", "binary", "none"}
BASES = {"description", "page", "code", "memory"}
WORDINGS = {"vendor", "simulated"}
TOP = {
    "network", "sources", "unknown", "scopes", "operations", "types", "nodes", "metrics", "refusals", "as_real",
}
NEEDED = TOP - {"as_real"}
OPERATION = {
    "name", "method", "path", "source", "scopes", "query", "body", "answers", "deprecated", "nodes", "metrics",
    "headers", "repeated",
}
# Names under which JSON Schema keeps further schemas: one, a list, or a map of them.
ONE = {"items", "additionalProperties", "not", "propertyNames", "contains"}
LISTS = {"anyOf", "oneOf", "allOf", "prefixItems"}
MAPS = {"properties", "patternProperties"}
PLAIN = {
    "$ref", "type", "enum", "const", "required", "minLength", "maxLength", "pattern", "format", "minimum",
    "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
    "minProperties", "maxProperties", "deprecated", "readOnly", "writeOnly", "contentEncoding",
}
# Ours: limits that JSON Schema has no word for, and values that are on their way out. `x-max-visible` counts characters
# after markup was read; `x-open` lists values of which there may be others.
OURS = {"x-max-bytes", "x-max-graphemes", "x-max-visible", "x-open", "x-accept", "x-deprecated", "x-unit"}


class Findings:
    """What is wrong with one file."""

    def __init__(self, facts):
        self.facts = facts
        self.found = []

    def add(self, place, what):
        """Notes a finding."""
        self.found.append(f"{place}: {what}")

    def source(self, place, name):
        """Checks that a source is one of the file's."""
        if name not in self.facts.get("sources", {}):
            self.add(place, f"no such source: {name!r}")

    def schema(self, place, schema):
        """Checks one schema and those inside it."""
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            self.add(place, "is no schema")
            return
        for key, value in schema.items():
            if key in ONE:
                self.schema(f"{place}/{key}", value)
            elif key in LISTS:
                for number, one in enumerate(value):
                    self.schema(f"{place}/{key}/{number}", one)
            elif key in MAPS:
                for name, one in value.items():
                    self.schema(f"{place}/{key}/{name}", one)
            elif key not in PLAIN | OURS:
                self.add(place, f"unknown keyword {key!r}")
        self.leaves(place, schema)

    def leaves(self, place, schema):
        """Checks what a schema says of itself."""
        ref = schema.get("$ref")
        if ref is not None and ref.removeprefix("#/types/") not in self.facts.get("types", {}):
            self.add(place, f"dangling reference {ref!r}")
        if "pattern" in schema:
            try:
                re.compile(schema["pattern"])
            except re.error as error:
                self.add(place, f"pattern: {error}")
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            if known and name not in known:
                self.add(place, f"requires {name!r}, which it does not name")


def operations(findings):
    """Checks the operations."""
    seen = set()
    for one in findings.facts["operations"]:
        place = f"operation {one.get('name')!r}"
        for key in set(one) - OPERATION:
            findings.add(place, f"unknown key {key!r}")
        # Names of placeholders do not make two paths differ.
        key = (one.get("method"), re.sub(r"\{[^}+]*(\+?)\}", r"{\1}", one.get("path", "")))
        if key in seen:
            findings.add(place, f"a second {key[0]} {one['path']}")
        seen.add(key)
        if one.get("method") not in METHODS or not one.get("path", "").startswith("/"):
            findings.add(place, "has no method or path")
        findings.source(place, one.get("source"))
        for names in one.get("scopes", []):
            for name in names:
                if name not in findings.facts["scopes"]:
                    findings.add(place, f"no such scope: {name!r}")
        for name in one.get("nodes", []):
            if name not in findings.facts["nodes"]:
                findings.add(place, f"no such node: {name!r}")
        if "query" in one:
            findings.schema(f"{place} query", one["query"])
        if "body" in one:
            kinds = [one["body"].get("type"), *one["body"].get("also", [])]
            if not BODIES.issuperset(kinds):
                findings.add(place, "unknown type of body")
            for key in set(one["body"]) - {"type", "also", "schema"}:
                findings.add(place, f"unknown key {key!r} of the body")
            findings.schema(f"{place} body", one["body"].get("schema", {}))
        for name in one.get("repeated", []):
            if name not in one.get("query", {}).get("properties", {}):
                findings.add(place, f"repeats {name!r}, which it does not name")
        for name in one.get("metrics", []):
            if name not in {metric["on"] for metric in findings.facts["metrics"]}:
                findings.add(place, f"has no metrics on {name!r}")
        for status, schema in one.get("answers", {}).items():
            findings.schema(f"{place} answer {status}", schema)


def others(findings):
    """Checks the sources, types, nodes, metrics and refusals."""
    facts = findings.facts
    for name, source in facts["sources"].items():
        if source.get("basis") not in BASES or not isinstance(source.get("verified"), bool):
            findings.add(f"source {name!r}", "needs a basis and verified")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", source.get("seen", "")):
            findings.add(f"source {name!r}", "needs the date on which it was seen")
    for name, source in facts["scopes"].items():
        findings.source(f"scope {name!r}", source)
    findings.source("unknown", facts["unknown"].get("source"))
    for name, schema in facts["types"].items():
        findings.schema(f"type {name!r}", schema)
    for name, node in facts["nodes"].items():
        for to in node.get("of", {}).values():
            if to not in facts["nodes"]:
                findings.add(f"node {name!r}", f"no such node: {to!r}")
    metrics = [(one.get("on"), one.get("name"), one.get("period")) for one in facts["metrics"]]
    for one in facts["metrics"]:
        findings.source(f"metric {one.get('name')!r}", one.get("source"))
    for one in {one for one in metrics if metrics.count(one) > 1}:
        findings.add("metrics", f"twice: {one}")
    names = {one.get("name") for one in facts["operations"]} | {"*"}
    for one in facts["refusals"]:
        place = f"refusal {one.get('when')!r}"
        findings.source(place, one.get("source"))
        if one.get("wording") not in WORDINGS:
            findings.add(place, "needs a wording")
        on = one.get("on")
        for name in on if isinstance(on, list) else [on]:
            if name not in names:
                findings.add(place, f"no such operation: {name!r}")


def texts(findings, value, place=""):
    """Finds vendors' sentences: facts hold names and limits alone. A property may be named like a keyword."""
    if isinstance(value, dict):
        for key, inner in value.items():
            is_name = place.endswith(("/properties", "/body", "/error")) or "/refusals" in place
            if key in {"description", "title", "examples", "example", "summary"} and not is_name:
                findings.add(place, f"holds {key!r}")
            texts(findings, inner, f"{place}/{key}")
    elif isinstance(value, list):
        for inner in value:
            texts(findings, inner, place)


def check(path):
    """Returns what is wrong with a file."""
    size = path.stat().st_size
    facts = json.loads(path.read_text(encoding="utf-8"))
    findings = Findings(facts)
    if size > BYTES_MAX:
        findings.add("file", f"{size} bytes, more than {BYTES_MAX}")
    for key in NEEDED - set(facts):
        findings.add("file", f"lacks {key!r}")
    for key in set(facts) - TOP:
        findings.add("file", f"unknown key {key!r}")
    if findings.found:
        return findings.found
    if facts["network"] != path.stem:
        findings.add("file", f"is named {path.stem}, and says {facts['network']}")
    operations(findings)
    others(findings)
    texts(findings, facts)
    return findings.found


def main(arguments):
    """Checks the named files, or all."""
    paths = [Path(one) for one in arguments] or sorted(FOLDER.glob("*.json"))
    found = [f"{path.name}: {one}" for path in paths for one in check(path)]
    size = sum(path.stat().st_size for path in paths)
    if size > ALL_BYTES_MAX:
        found.append(f"all files: {size} bytes, more than {ALL_BYTES_MAX}")
    print("\n".join(found) if found else f"{len(paths)} files of vendor facts are sound")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
