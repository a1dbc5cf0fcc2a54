"""Reads the table of Telegram's Bot API."""

import json
import re

from .schema import Unreadable

PLAIN = {
    "Integer": {"type": "integer"}, "Float": {"type": "number"}, "String": {"type": "string"},
    "Boolean": {"type": "boolean"}, "True": {"const": True},
    # A file in another part of the request; its place holds its address otherwise.
    "InputFile": {"type": "string"},
}
ARRAY = "Array of "
# https://core.telegram.org/bots/api#making-requests
FORMS = ["form", "multipart"]


class Description:
    """The table."""

    def __init__(self, path, wanted):
        self.table = json.loads(path.read_text(encoding="utf-8"))
        self.wanted = wanted
        self.schemas = {name: self.type(one) for name, one in self.table["types"].items()}

    def version(self):
        """Returns the version of the API."""
        return self.table["version"]

    def scopes(self):
        """Tokens of bots have no scopes."""
        return []

    def operations(self):
        """Returns the wanted methods."""
        return [self.operation(name, method) for name, method in self.wanted["operations"].items()]

    def operation(self, name, method):
        """Returns one method. It takes its arguments in the query, too."""
        given = self.table["methods"].get(method)
        if given is None:
            raise Unreadable(f"it has no method {method}")
        result = self.schema(given["returns"])
        answer = {"type": "object", "properties": {"ok": {"const": True}, "result": result}, "required": ["ok", "result"]}
        body = {"type": "json", "also": FORMS, "schema": self.object(given, self.file_limit(method, given))}
        return {
            "name": name, "method": "POST", "path": f"/bot{{token}}/{method}", "scopes": [],
            "body": body, "answers": {"200": answer},
        }

    def file_limit(self, method, given):
        """Returns which file a size that stands at the method is about."""
        sizes = [found for one in given.get("limits", []) if (found := megabytes(one))]
        name = method.removeprefix("send").lower()
        return {name: sizes[0]} if sizes else {}

    def type(self, given):
        """Returns the schema of a type: an object, or one of several."""
        if "subtypes" in given:
            return {"anyOf": [{"$ref": f"#/{name}"} for name in given["subtypes"]]}
        return self.object(given, {})

    def object(self, given, sizes):
        """Returns the schema of a method's arguments or of a type."""
        fields = given.get("fields", [])
        properties = {}
        for one in fields:
            schema = self.schema(one["types"])
            for limit in one.get("limits", []):
                schema = schema | limits(limit, schema)
            if one["name"] in sizes:
                schema = schema | {"x-max-bytes": sizes[one["name"]]}
            properties[one["name"]] = schema
        needed = [one["name"] for one in fields if one["required"]]
        made = {"type": "object", "properties": properties}
        return made | ({"required": needed} if needed else {})

    def schema(self, types):
        """Returns the schema of a value that has one of these types."""
        if len(types) > 1 and all(one.startswith(ARRAY) for one in types):
            return {"type": "array", "items": self.schema([one.removeprefix(ARRAY) for one in types])}
        made = []
        for one in types:
            schema = self.one(one)
            if schema not in made:
                made.append(schema)
        return made[0] if len(made) == 1 else {"anyOf": made}

    def one(self, name):
        """Returns the schema of one type."""
        if name.startswith(ARRAY):
            return {"type": "array", "items": self.one(name.removeprefix(ARRAY))}
        return PLAIN[name] if name in PLAIN else {"$ref": f"#/{name}"}


def megabytes(limit):
    """Returns a size in bytes."""
    found = re.search(r"(\d+) ?MB", limit)
    return int(found[1]) << 20 if found else None


def limits(limit, schema):
    """Returns what a limit in words means for a value. Characters may be counted after markup was taken out."""
    size = megabytes(limit)
    if size:
        return {"x-max-bytes": size}
    found = re.match(r"(\d+)-(\d+) (characters|bytes)", limit)
    if not found or schema.get("type") != "string":
        return {}
    least, most = int(found[1]), int(found[2])
    longest = "x-max-bytes" if found[3] == "bytes" else "x-max-visible" if "pars" in limit else "maxLength"
    return {longest: most} | ({"minLength": least} if least else {})
