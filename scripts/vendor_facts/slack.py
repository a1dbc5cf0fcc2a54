"""Reads JSON Schemas that were made from the types of Slack's own client."""

import json

from .schema import Unreadable, name_of

KNOWN = {"$ref": "#/definitions/KnownBlock"}
BLOCK = {"$ref": "#/definitions/Block"}


class Description:
    """The definitions of arguments and answers."""

    def __init__(self, path, wanted):
        self.file = json.loads(path.read_text(encoding="utf-8"))
        self.wanted = wanted
        self.schemas = self.file["definitions"]

    def version(self):
        """Returns the version of the client."""
        return self.file["x-version"]

    def scopes(self):
        """The types have no scopes."""
        return []

    def operations(self):
        """Returns the wanted methods. What reads can be asked by GET, too."""
        found = []
        for name, method in self.wanted["operations"].items():
            found.append(self.operation(name, method))
            if method in self.wanted["reads"]:
                found.append(asked(found[-1]))
        return found

    def operation(self, name, method):
        """Returns one method."""
        stem = self.stem(method)
        arguments = self.apart(self.flat(self.schemas[stem + "Arguments"]))
        is_read = method in self.wanted["reads"] or method in self.wanted["forms"]
        body = {"type": "form" if is_read else "json", "schema": arguments}
        if not is_read:
            body["also"] = ["form"]
        answer = {"$ref": f"#/{self.answer_name(stem)}"}
        return {
            "name": name, "method": "POST", "path": f"/api/{method}", "scopes": [], "body": body,
            "answers": {"200": {"allOf": [answer, {"type": "object", "required": ["ok"]}]}},
        }

    def apart(self, schema):
        """Returns arguments in which any block is one of a kind that is not known, so that known ones are looked at."""
        if isinstance(schema, list):
            made = [self.apart(one) for one in schema]
            return [self.other_block() if one == BLOCK and KNOWN in made else one for one in made]
        if isinstance(schema, dict):
            return {key: self.apart(value) for key, value in schema.items()}
        return schema

    def other_block(self):
        """Returns the schema of a block of another kind than those that are known."""
        kind = {"type": "string", "not": {"enum": self.kinds(KNOWN)}}
        return {"type": "object", "properties": {"type": kind, "block_id": {"type": "string"}}, "required": ["type"]}

    def kinds(self, schema):
        """Returns the kinds of the blocks of a union."""
        schema = self.schemas[name_of(schema["$ref"])] if "$ref" in schema else schema
        if "anyOf" in schema:
            return [kind for one in schema["anyOf"] for kind in self.kinds(one)]
        return [schema["properties"]["type"]["const"]] if "properties" in schema else []

    def stem(self, method):
        """Returns the start of the names of a method's types."""
        wanted = "".join(method.split(".")).lower() + "arguments"
        for name in self.schemas:
            if name.lower() == wanted:
                return name.removesuffix("Arguments")
        raise Unreadable(f"it has no arguments of {method}")

    def answer_name(self, stem):
        """Returns the name of an answer: OAuth is written in two ways."""
        wanted = f"{stem}Response".lower()
        return next(name for name in self.schemas if name.lower() == wanted)

    def flat(self, schema):
        """Returns one object for arguments that are written as many alternatives."""
        if "$ref" in schema:
            return self.flat(self.schemas[name_of(schema["$ref"])])
        if "not" in schema:
            return {"type": "object", "properties": {}}
        kinds = [key for key in ("anyOf", "allOf") if key in schema]
        if not kinds:
            return schema
        parts = [self.flat(one) for one in schema[kinds[0]]]
        parts = [one for one in parts if one.get("type") == "object"]
        properties = {}
        for one in parts:
            for name, inner in one.get("properties", {}).items():
                properties[name] = either(properties[name], inner) if name in properties else inner
        needs = [set(one.get("required", [])) for one in parts]
        always = set.intersection(*needs) if kinds[0] == "anyOf" else set.union(*needs)
        return {"type": "object", "properties": properties, "required": [one for one in properties if one in always]}


def bare(schema):
    """Returns a schema without its sentences."""
    return {key: value for key, value in schema.items() if key not in ("description", "examples")}


def either(first, second):
    """Returns a schema that takes what one of two takes."""
    first, second = bare(first), bare(second)
    if first == second:
        return first
    if {first.get("type"), second.get("type")} == {"boolean"}:
        return {"type": "boolean"}
    known = first.get("anyOf", [first])
    return {"anyOf": known if second in known else [*known, second]}


def asked(operation):
    """Returns the same method as a GET, with its arguments in the query."""
    query = operation["body"]["schema"]
    return {
        "name": operation["name"] + " by GET", "method": "GET", "path": operation["path"], "scopes": [],
        "query": query, "body": {"type": "none"}, "answers": operation["answers"],
    }
