"""Reads Google's discovery documents."""

import json
import re

from .schema import Unreadable, comma_list

# https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol
RANGE = {"type": "string", "pattern": r"^bytes (\d+-\d+|\*)/\d+$"}


class Description:
    """One discovery document."""

    def __init__(self, path, wanted):
        self.api = json.loads(path.read_text(encoding="utf-8"))
        self.wanted = wanted
        self.schemas = self.api["schemas"]

    def version(self):
        """Returns what the document says of its version."""
        return f"{self.api['version']} rev {self.api['revision']}"

    def scopes(self):
        """Returns the scopes that some operation takes."""
        used = [names for one in self.operations() for names in one["scopes"]]
        return sorted({name for names in used for name in names})

    def operations(self):
        """Returns the wanted operations, with schemas as the document has them."""
        found = []
        for name, key in self.wanted["operations"].items():
            method = self.method(key)
            kind = self.wanted.get("uploads", {}).get(key)
            found += self.upload(name, key, method, kind) if kind else [self.operation(name, key, method)]
        return found

    def method(self, key):
        """Returns a method by its place below the resources."""
        place = self.api
        *resources, name = key.split(".")
        try:
            for one in resources:
                place = place["resources"][one]
            return place["methods"][name]
        except KeyError:
            raise Unreadable(f"it has no method {key}") from None

    def operation(self, name, key, method):
        """Returns one operation."""
        made = {
            "name": name, "method": method["httpMethod"], "path": "/" + method["flatPath"],
            "scopes": [[scope] for scope in method.get("scopes", [])],
            "query": self.query(key, method),
            "body": {"type": "none"},
            "answers": {"200": method.get("response", {})},
        }
        if "request" in method:
            made["body"] = {"type": "json", "schema": method["request"]}
        again = [name for name, one in method["parameters"].items() if one.get("repeated")]
        return made | ({"repeated": again} if again else {})

    def query(self, key, method):
        """Returns the parameters, those of every method included."""
        own = {name: one for name, one in method["parameters"].items() if one["location"] == "query"}
        resource = self.wanted.get("parts", {}).get(key)
        properties = {name: several(one, self.parameter(name, one, resource)) for name, one in own.items()}
        mask = self.wanted.get("masks", {}).get(key)
        for name, one in own.items():
            if mask and one.get("format") == "google-fieldmask":
                properties[name] = field_mask(self.schemas[mask]["properties"])
        properties |= {name: self.parameter(name, one, None) for name, one in self.api["parameters"].items()}
        needed = [name for name, one in own.items() if is_required(one)]
        return {"type": "object", "properties": properties, "required": needed}

    def parameter(self, name, given, resource):
        """Returns the schema of a parameter. `part` names what a resource consists of."""
        if name == "part" and resource:
            return comma_list(self.parts(resource))
        schema = {key: value for key, value in given.items() if key != "required"}
        # The document keeps some patterns and smallest values in its sentences alone.
        for key, pattern in (("pattern", r"pattern: \"?(\[\S+)"), ("minimum", r"minValue: (\d+)")):
            found = re.search(pattern, given.get("description", ""))
            if found and key not in schema:
                schema[key] = int(found[1]) if key == "minimum" else f"^{found[1].rstrip(',').rstrip(chr(34))}$"
        return schema

    def parts(self, resource):
        """Returns the names of a resource's parts."""
        inside = self.schemas[resource]["properties"]
        return ["id", *(name for name, one in inside.items() if "$ref" in one or "additionalProperties" in one)]

    def upload(self, name, key, method, kind):
        """Returns the operations of an upload: in one request, or in parts after it was begun."""
        media = method["mediaUpload"]
        file = {"x-accept": media["accept"], "x-max-bytes": int(media["maxSize"])}
        plain = self.operation(name, key, method)
        if kind == "simple":
            plain["path"] = media["protocols"]["simple"]["path"]
            plain["body"] = {"type": "binary", "schema": file}
            return [plain]
        # The client libraries begin at the simple path, with uploadType.
        paths = [media["protocols"][one]["path"] for one in ("simple", "resumable")]
        return [
            one for path, also in zip(paths, ("", " at its own path"))
            for one in (begun(plain, path, also, file), part(plain, path, also, file))
        ]


def field_mask(names):
    """Returns the schema of fields with commas between them; what is inside a field stands behind a dot."""
    one = "|".join(names)
    return {"type": "string", "pattern": rf"^({one})(\.[\w.]+)?(,({one})(\.[\w.]+)?)*$"}


def several(given, schema):
    """Returns the schema of a parameter that is given once for each of its values, or of a plain one."""
    return {"type": "array", "items": schema} if given.get("repeated") else schema


def is_required(given):
    """Returns whether a parameter must be there. Some documents keep that in their sentences."""
    said = given.get("description", "")
    return bool(given.get("required")) or said.startswith("Required.") or "required: true" in said


def begun(plain, path, also, file):
    """Returns the operation that begins an upload."""
    headers = {
        "X-Upload-Content-Type": {"type": "string", "x-accept": file["x-accept"]},
        "X-Upload-Content-Length": {"type": "integer", "minimum": 1, "maximum": file["x-max-bytes"]},
    }
    query = plain["query"]
    query = query | {"properties": query["properties"] | {"uploadType": {"enum": ["resumable"]}}}
    # The answer is an address in Location.
    return plain | {
        "name": plain["name"] + also, "path": path, "query": query, "answers": {"200": {}},
        "headers": {"type": "object", "properties": headers, "additionalProperties": True},
    }


def part(plain, path, also, file):
    """Returns the operation that sends a part, or asks how much has arrived."""
    headers = {"Content-Range": RANGE, "Content-Type": {"type": "string", "x-accept": file["x-accept"]}}
    answer = plain["answers"]["200"]
    plain = {key: value for key, value in plain.items() if key != "repeated"}
    return plain | {
        "name": "send a part" + also, "method": "PUT", "path": path,
        # The address is the vendor's, so its query is not looked at.
        "query": {"type": "object", "properties": {
            "upload_id": {"type": "string"}, "uploadType": {"enum": ["resumable"]},
        }, "additionalProperties": True},
        "body": {"type": "binary", "schema": file},
        "answers": {"200": answer, "201": answer, "308": {}},
        "headers": {"type": "object", "properties": headers, "additionalProperties": True},
    }
