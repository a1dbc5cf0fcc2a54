"""Reads atproto's lexicons, out of an archive of them."""

import json
import tarfile

from .schema import Unreadable

LINK = {"type": "object", "properties": {"$link": {"type": "string"}}, "required": ["$link"]}
PLAIN = {
    "type", "format", "minimum", "maximum", "minLength", "const", "enum", "required", "description", "default",
}


class Description:
    """The lexicons of an archive."""

    def __init__(self, path, wanted):
        self.wanted = wanted
        with tarfile.open(path) as archive:
            files = [archive.extractfile(one).read() for one in archive if one.name.endswith(".json")]
        lexicons = sorted((json.loads(one) for one in files), key=lambda one: one["id"])
        self.lexicons = {one["id"]: one for one in lexicons}
        self.schemas = {}
        for one in lexicons:
            for name, inner in one["defs"].items():
                if inner["type"] in ("object", "record", "string", "array", "token", "union"):
                    self.schemas[type_name(one["id"], name)] = self.definition(one["id"], name, inner)

    def version(self):
        """Lexicons have no version of their own."""
        return "lexicons"

    def scopes(self):
        """App passwords have no scopes."""
        return []

    def operations(self):
        """Returns the wanted queries and procedures."""
        return [self.operation(name, nsid) for name, nsid in self.wanted["operations"].items()]

    def main(self, nsid):
        """Returns the definition of a query or procedure."""
        if nsid not in self.lexicons:
            raise Unreadable(f"it has no {nsid}")
        return self.lexicons[nsid]["defs"]["main"]

    def operation(self, name, nsid):
        """Returns one operation."""
        main = self.main(nsid)
        made = {
            "name": name, "method": "GET" if main["type"] == "query" else "POST", "path": f"/xrpc/{nsid}",
            "scopes": [], "body": {"type": "none"}, "answers": {"200": {}},
        }
        if "parameters" in main:
            made["query"] = self.object(nsid, main["parameters"])
            several = [name for name, one in main["parameters"]["properties"].items() if one["type"] == "array"]
            if several:
                made["repeated"] = several
        if "input" in main:
            made["body"] = self.body(nsid, main["input"])
        if "output" in main:
            made["answers"]["200"] = self.schema(nsid, main["output"]["schema"])
        return made

    def body(self, nsid, given):
        """Returns the body of a procedure. Where it takes any record, those that we write are checked."""
        if "schema" not in given:
            return {"type": "binary", "schema": {"x-accept": [given["encoding"]]}}
        schema = self.schema(nsid, given["schema"])
        for field in ("record",):
            if schema["properties"].get(field) == {"type": "object"}:
                schema["properties"][field] = self.records()
        return {"type": "json", "schema": schema}

    def records(self):
        """Returns the schema of a record of any collection."""
        return self.union("", self.wanted["records"])

    def refusals(self):
        """Returns the errors that the lexicons name."""
        found = []
        for name, nsid in self.wanted["operations"].items():
            for error in self.main(nsid).get("errors", []):
                code = error["name"]
                found.append({
                    "on": name, "status": 400, "code": code, "body": {"error": code, "message": "{message}"},
                    "when": f"the lexicon names {code}", "source": self.wanted["source"], "wording": "simulated",
                })
        return found

    def definition(self, nsid, name, given):
        """Returns a named definition. Objects may say what they are."""
        if given["type"] == "record":
            given = given["record"]
        made = self.schema(nsid, given)
        # The values that an operation writes are records of any collection.
        if nsid == "com.atproto.repo.applyWrites" and name in ("create", "update"):
            made["properties"]["value"] = self.records()
        if given["type"] == "object":
            tag = {"$type": {"const": nsid if name == "main" else f"{nsid}#{name}"}}
            made["properties"] = tag | made["properties"]
        return made

    def object(self, nsid, given):
        """Returns the schema of an object or of parameters."""
        properties = {}
        for name, one in given.get("properties", {}).items():
            properties[name] = self.schema(nsid, one)
            if name in given.get("nullable", []):
                properties[name] = {"anyOf": [{"type": "null"}, properties[name]]}
        made = {"type": "object", "properties": properties}
        return made | ({"required": given["required"]} if given.get("required") else {})

    def schema(self, nsid, given):
        """Returns the schema of a lexicon's type. Lengths of strings are bytes there."""
        kind = given["type"]
        if kind == "ref":
            return {"$ref": f"#/{type_name(nsid, given['ref'])}"}
        if kind == "union":
            return self.union(nsid, given["refs"], given.get("closed", False))
        if kind in ("object", "params"):
            return self.object(nsid, given)
        if kind == "array":
            sizes = {"minItems": given.get("minLength"), "maxItems": given.get("maxLength")}
            sizes = {key: value for key, value in sizes.items() if value is not None}
            return {"type": "array", "items": self.schema(nsid, given["items"])} | sizes
        if kind == "blob":
            return blob(given)
        if kind in ("unknown", "bytes", "cid-link"):
            return LINK if kind == "cid-link" else {"type": "object"}
        if kind == "token":
            return {"type": "string"}
        limits = {"x-max-bytes": "maxLength", "x-max-graphemes": "maxGraphemes", "x-open": "knownValues"}
        made = {key: value for key, value in given.items() if key in PLAIN}
        unread = set(given) - PLAIN - set(limits.values()) - {"minGraphemes"}
        if unread:
            raise Unreadable(f"a type of {nsid} has {sorted(unread)}, which is not known")
        return made | {ours: given[theirs] for ours, theirs in limits.items() if theirs in given}

    def union(self, nsid, named, closed=False):
        """Returns alternatives that say what they are; an open union takes others unread."""
        names = [type_name(nsid, one) for one in named]
        made = [{"allOf": [{"$ref": f"#/{name}"}, {"required": ["$type"]}]} for name in names]
        if not closed:
            tags = [one if not one.startswith("#") else f"{nsid}{one}" for one in named]
            other = {"$type": {"type": "string", "not": {"enum": tags}}}
            made.append({"type": "object", "properties": other, "required": ["$type"]})
        return {"anyOf": made}


def type_name(nsid, ref):
    """Returns the name of a type for a reference, which may be to the same lexicon."""
    where, _, name = ref.partition("#") if "#" in ref or "." in ref else (nsid, "", ref)
    where = where or nsid
    return where if name in ("", "main") else f"{where}.{name}"


def blob(given):
    """Returns the schema of a blob, with the sizes and kinds that are taken."""
    size = {"type": "integer"} | ({"maximum": given["maxSize"]} if "maxSize" in given else {})
    kind = {"type": "string"} | ({"x-accept": given["accept"]} if "accept" in given else {})
    properties = {"$type": {"const": "blob"}, "ref": LINK, "mimeType": kind, "size": size}
    return {"type": "object", "properties": properties, "required": ["$type", "ref", "mimeType", "size"]}
