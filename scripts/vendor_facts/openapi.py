"""Reads OpenAPI 3.0 and 3.1."""

import json

from .schema import Unreadable, comma_list, values

BODIES = {
    "application/json": "json", "application/x-www-form-urlencoded": "form", "multipart/form-data": "multipart",
}


class Description:
    """One OpenAPI file."""

    def __init__(self, path, wanted):
        self.api = json.loads(path.read_text(encoding="utf-8"))
        self.wanted = wanted
        self.schemas = self.api["components"]["schemas"]

    def version(self):
        """Returns what the file says of its version."""
        return self.api["info"]["version"]

    def scopes(self):
        """Returns the scopes that some operation needs."""
        used = [names for one in self.operations() for names in one["scopes"]]
        return sorted({name for names in used for name in names})

    def operations(self):
        """Returns the wanted operations, with schemas as the description has them."""
        return [self.operation(name, *key.split(" ", 1)) for name, key in self.wanted["operations"].items()]

    def operation(self, name, method, path):
        """Returns one operation."""
        item = self.api["paths"].get(path, {})
        one = item.get(method.lower())
        if one is None:
            raise Unreadable(f"it has no {method} {path}")
        made = {
            "name": name, "method": method, "path": self.wanted["base"] + path,
            "scopes": self.scopes_of(one),
        }
        given = [self.resolved(given) for given in item.get("parameters", []) + one.get("parameters", [])]
        query = [one for one in given if one["in"] == "query"]
        if query:
            made["query"] = {
                "type": "object",
                "properties": {one["name"]: self.parameter(one) for one in query},
                "required": [one["name"] for one in query if one.get("required")],
            }
        made["body"] = self.body(one.get("requestBody"))
        made["answers"] = {status: self.answer(one) for status, one in one["responses"].items() if status[0] == "2"}
        return made

    def resolved(self, given):
        """Returns what a reference to another part of the components names."""
        while "$ref" in given:
            _, kind, name = given["$ref"].rsplit("/", 2)
            given = self.api["components"][kind][name]
        return given

    def parameter(self, given):
        """Returns the schema of a parameter. Lists have commas between their values."""
        schema = given["schema"]
        if "$ref" in schema.get("items", {}):
            schema = schema | {"items": self.resolved(schema["items"])}
        if schema.get("type") != "array":
            return schema
        names = values(schema["items"])
        return comma_list(names) if names else {"type": "string"}

    def scopes_of(self, one):
        """Returns the sets of scopes of which one is enough."""
        flow = self.wanted.get("security")
        found = [need[flow] for need in one.get("security", []) if flow in need]
        return [names for names in found if names]

    def body(self, given):
        """Returns the body of a request, in its most usual form."""
        if given is None:
            return {"type": "none"}
        content = self.resolved(given)["content"]
        kinds = {BODIES[kind]: one["schema"] for kind, one in content.items()}
        kind = next(iter(kinds))
        made = {"type": kind, "schema": self.tagged(kinds[kind])}
        also = [one for one in kinds if one != kind]
        return made | ({"also": also} if also else {})

    def tagged(self, schema):
        """Returns the alternatives of a schema that only says how they are told apart."""
        named = self.resolved(schema)
        tag = named.get("discriminator", {})
        if "mapping" not in tag or "oneOf" in named or "anyOf" in named:
            return schema
        name = tag["propertyName"]
        return {"anyOf": [
            {"allOf": [{"type": "object", "properties": {name: {"const": value}}, "required": [name]}, {"$ref": ref}]}
            for value, ref in tag["mapping"].items()
        ]}

    def answer(self, given):
        """Returns the schema of an answer; one without a body is open."""
        content = self.resolved(given).get("content", {})
        return next((one["schema"] for one in content.values()), {})
