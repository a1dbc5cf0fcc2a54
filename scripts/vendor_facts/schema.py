"""Takes names, types and limits out of JSON Schemas, and leaves sentences and examples behind."""

import re

# Taken over as they are.
PLAIN = {
    "type", "const", "required", "minLength", "maxLength", "pattern", "format", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties",
    "maxProperties", "contentEncoding", "enum",
    "x-max-bytes", "x-max-graphemes", "x-max-visible", "x-open", "x-accept", "x-deprecated",
}
# Kept where they are true.
FLAGS = {"deprecated", "readOnly", "writeOnly"}
# Sentences, examples, and what says nothing of a value.
LEFT_OUT = {
    "description", "title", "example", "examples", "default", "externalDocs", "xml", "discriminator", "nullable", "id",
    "enumDescriptions", "enumDeprecated", "annotations", "$comment", "location", "repeated",
}


class Unreadable(Exception):
    """A description that holds what this script does not know."""


def refs(schema):
    """Yields the names that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield name_of(schema["$ref"])
        for inner in schema.values():
            yield from refs(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from refs(inner)


def name_of(ref):
    """Returns the name at the end of a reference."""
    return ref.rsplit("/", 1)[-1]


def values(schema):
    """Returns the values that a schema enumerates, also in parts of it."""
    found = list(schema.get("enum", []))
    for key in ("anyOf", "oneOf"):
        for one in schema.get(key, []):
            found += [value for value in values(one) if value not in found]
    return found


def comma_list(names):
    """Returns the schema of names with commas between them."""
    one = "|".join(re.escape(name) for name in names)
    return {"type": "string", "pattern": f"^({one})(,({one}))*$"}


class Book:
    """The schemas of a description, and which of them are kept."""

    def __init__(self, schemas, is_open, depth, is_extract=False):
        # Of an extract, not everything that it refers to is there.
        self.schemas = schemas
        self.is_extract = is_extract
        self.is_open = is_open
        self.depth = depth
        self.kept = {}

    def take(self, schema, depth=None):
        """Keeps what a schema refers to: all of it, or what is at most so many references away."""
        left = float("inf") if depth is None else depth
        todo = [(name, left) for name in refs(schema)]
        while todo:
            name, left = todo.pop(0)
            if left <= 0 or self.kept.get(name, 0) >= left:
                continue
            if name not in self.schemas:
                if self.is_extract:
                    continue
                raise Unreadable(f"it refers to {name}, which it does not have")
            self.kept[name] = left
            todo += [(inner, left - 1) for inner in refs(self.schemas[name])]

    def take_answer(self, schema):
        """Keeps what an answer refers to, near enough to be read."""
        self.take(schema, self.depth)

    def types(self):
        """Returns the kept schemas, in the description's order."""
        return {name: self.facts(one) for name, one in self.schemas.items() if self.is_type(name)}

    def is_type(self, name):
        """Names that a generator made up are written where they are used."""
        return name in self.kept and re.fullmatch(r"[A-Za-z][\w.-]*", name)

    def facts(self, schema):
        """Returns a schema without sentences."""
        if isinstance(schema, bool):
            return schema
        if "$ref" in schema:
            return self.reference(schema)
        made = {}
        for key, value in schema.items():
            if key in LEFT_OUT or (key.startswith("x-") and key not in PLAIN):
                continue
            if key in FLAGS:
                made |= {key: True} if value is True else {}
            elif key in ("anyOf", "oneOf", "allOf"):
                parts = self.several(key, value)
                made |= {key: [parts]} if key == "allOf" and "properties" in schema and len(value) == 1 else parts
            elif key == "properties":
                made[key] = {name: self.facts(one) for name, one in value.items()}
            elif key in ("items", "not"):
                made[key] = self.facts(value)
            elif key == "additionalProperties":
                # What is closed in a client's types is open at most vendors; see `unknown`.
                if value is not False:
                    made[key] = self.facts(value)
            elif key in PLAIN:
                made |= {key: value} if value != [] else {}
            else:
                raise Unreadable(f"it has the keyword {key!r}, which is not known")
        return self.finished(schema, made)

    def reference(self, schema):
        """Returns a reference to a kept schema; what is farther away is as open as its type."""
        name = name_of(schema["$ref"])
        if self.is_type(name):
            made = {"$ref": f"#/types/{name}"}
        elif name in self.kept:
            made = self.facts(self.schemas[name])
        else:
            made = self.far(self.schemas.get(name, {}))
        for flag in FLAGS:
            if schema.get(flag) is True:
                made = {"allOf": [made], flag: True}
        if schema.get("nullable"):
            made = {"anyOf": [{"type": "null"}, made]}
        return made

    def far(self, schema):
        """Returns no more than the type of a schema, and the values of an enumeration."""
        kind = schema.get("type", "object" if "properties" in schema else None)
        if kind is None and "$ref" in schema:
            return self.far(self.schemas[name_of(schema["$ref"])])
        if kind in ("object", None):
            return {} if kind is None else {"type": "object"}
        return {"type": kind} | ({"enum": schema["enum"]} if "enum" in schema else {})

    def several(self, key, parts):
        """Returns alternatives. Constants are an enumeration, and one part stands for itself."""
        if key != "allOf" and all("const" in one for one in parts):
            return {"enum": [one["const"] for one in parts]}
        made = [self.facts(one) for one in parts]
        if len(made) == 1:
            return made[0]
        # Vendors tell alternatives apart loosely, so one of them is enough.
        return {"allOf" if key == "allOf" else "anyOf": made}

    def finished(self, schema, made):
        """Adds whether null and unknown names are taken."""
        if "properties" in made or made.get("type") == "object":
            if "additionalProperties" not in made and (not self.is_open or "properties" in made):
                made["additionalProperties"] = self.is_open
        gone = schema.get("enumDeprecated", [])
        if any(gone):
            made["x-deprecated"] = [one for one, is_gone in zip(schema["enum"], gone) if is_gone]
        for name in ("minimum", "maximum"):
            if isinstance(made.get(name), str):
                made[name] = int(made[name])
        if made.get("type") == "any":
            del made["type"]
        if not schema.get("nullable"):
            return made
        if "enum" in made and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
        if "type" in made:
            made["type"] = [made["type"], "null"]
        elif "enum" not in made:
            made = {"anyOf": [{"type": "null"}, made]}
        return made
