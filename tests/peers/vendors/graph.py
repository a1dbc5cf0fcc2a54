"""Reads Graph's objects, edges and parameters out of the classes of facebook_business, without running them."""

import ast
import keyword
import re
from pathlib import Path

# What some calls return is not said.
ABSTRACT = "AbstractCrudObject"
# Sent with any call.
COMMON = {"access_token": "string", "appsecret_proof": "string", "fields": "string", "locale": "string"}
PAGES = {"limit": "int", "after": "string", "before": "string", "summary": "string", "order": "string", "filter": "string"}

FACEBOOK = {
    "GET /{version}/me": [("User", ""), ("Page", "")],
    "GET /{version}/me/accounts": [("User", "/accounts")],
    "GET /{version}/me/businesses": [("User", "/businesses")],
    "GET /{version}/{business}/owned_pages": [("Business", "/owned_pages")],
    "GET /{version}/{business}/client_pages": [("Business", "/client_pages")],
    "GET /{version}/me/permissions": [("User", "/permissions")],
    "DELETE /{version}/me/permissions": [("User", "/permissions")],
    "GET /{version}/{id}": [(name, "") for name in ("Page", "PagePost", "Post", "AdVideo", "Photo", "Comment")],
    "POST /{version}/{id}": [(name, "") for name in ("Page", "PagePost", "AdVideo", "Photo", "Comment")],
    "DELETE /{version}/{id}": [(name, "") for name in ("PagePost", "AdVideo", "Photo", "Comment")],
    "POST /{version}/{page}/feed": [("Page", "/feed")],
    "POST /{version}/{page}/photos": [("Page", "/photos")],
    "POST /{version}/{page}/videos": [("Page", "/videos")],
    "POST /{version}/{page}/video_reels": [("Page", "/video_reels")],
    "POST /{version}/{page}/video_stories": [("Page", "/video_stories")],
    "POST /{version}/{page}/photo_stories": [("Page", "/photo_stories")],
    "POST /{version}/{video}/thumbnails": [("AdVideo", "/thumbnails")],
    "GET /{version}/{page}/published_posts": [("Page", "/published_posts")],
    "GET /{version}/{page}/feed": [("Page", "/feed")],
    "GET /{version}/{page}/posts": [("Page", "/posts")],
    "GET /{version}/{page}/videos": [("Page", "/videos")],
    "GET /{version}/{page}/stories": [("Page", "/stories")],
    "GET /{version}/{id}/insights": [("Page", "/insights"), ("PagePost", "/insights"), ("Photo", "/insights")],
    "GET /{version}/{video}/video_insights": [("AdVideo", "/video_insights")],
    "GET /{version}/{id}/comments": [("PagePost", "/comments"), ("Photo", "/comments"), ("AdVideo", "/comments")],
    "POST /{version}/{id}/comments": [(name, "/comments") for name in ("PagePost", "Photo", "AdVideo", "Comment")],
    "GET /{version}/{page}/conversations": [("Page", "/conversations")],
    "POST /{version}/{page}/messages": [("Page", "/messages")],
    "POST /{version}/{page}/subscribed_apps": [("Page", "/subscribed_apps")],
}
INSTAGRAM = {
    key: FACEBOOK[key] for key in (
        "GET /{version}/me", "GET /{version}/me/accounts", "GET /{version}/me/businesses",
        "GET /{version}/{business}/owned_pages", "GET /{version}/{business}/client_pages",
        "GET /{version}/me/permissions", "DELETE /{version}/me/permissions",
        "GET /{version}/{page}/conversations", "POST /{version}/{page}/messages",
        "POST /{version}/{page}/subscribed_apps",
    )
} | {
    "GET /{version}/{id}": [("IGUser", ""), ("IGMedia", ""), ("IGComment", "")],
    "POST /{version}/{comment}": [("IGComment", ""), ("IGMedia", "")],
    "DELETE /{version}/{comment}": [("IGComment", ""), ("IGMedia", "")],
    "POST /{version}/{user}/media": [("IGUser", "/media")],
    "POST /{version}/{user}/media_publish": [("IGUser", "/media_publish")],
    "GET /{version}/{user}/content_publishing_limit": [("IGUser", "/content_publishing_limit")],
    "GET /{version}/{user}/media": [("IGUser", "/media")],
    "GET /{version}/{user}/stories": [("IGUser", "/stories")],
    "GET /{version}/{id}/insights": [("IGUser", "/insights"), ("IGMedia", "/insights")],
    "GET /{version}/{media}/comments": [("IGMedia", "/comments")],
    "POST /{version}/{media}/comments": [("IGMedia", "/comments")],
    "GET /{version}/{comment}/replies": [("IGComment", "/replies")],
    "POST /{version}/{comment}/replies": [("IGComment", "/replies")],
}
NETWORKS = {"facebook": FACEBOOK, "instagram": INSTAGRAM}
PLAIN = {
    "string": {"type": "string"}, "bool": {"type": "boolean"}, "int": {"type": "integer"},
    "unsigned int": {"type": "integer"}, "float": {"type": "number"}, "datetime": {"type": ["string", "integer"]},
}


class Classes:
    """The classes of the package, each read when it is needed."""

    def __init__(self, folder):
        self.folder = Path(folder) / "facebook_business" / "adobjects"
        self.read = {}

    def get(self, name):
        """Returns a class: its fields with types, enumerations and calls. `None` if there is none."""
        if name not in self.read:
            path = self.folder / f"{name.lower()}.py"
            self.read[name] = self.parsed(name, path) if path.is_file() else None
        return self.read[name]

    def parsed(self, name, path):
        """Reads one file."""
        # Some values of enumerations are words of Python, with which a file cannot be run.
        text = re.sub(rf"^(\s+)({'|'.join(keyword.kwlist)}) = ", r"\1value_\2 = ", path.read_text(encoding="utf-8"), flags=re.M)
        tree = ast.parse(text)
        found = next((one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == name), None)
        if found is None:
            return None
        made = {"name": name, "fields": {}, "enums": {}, "calls": {}}
        for one in found.body:
            if isinstance(one, ast.ClassDef):
                made["enums"][one.name] = strings_of(one)
            elif isinstance(one, ast.Assign) and one.targets[0].id == "_field_types":
                made["fields"] = ast.literal_eval(one.value)
            elif isinstance(one, ast.FunctionDef):
                call = self.call(one)
                if call:
                    made["calls"].setdefault((call["method"], call["endpoint"]), call)
        return made

    def call(self, function):
        """Returns a call of the API, if a method makes one."""
        made = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                if node.targets[0].id == "param_types":
                    made["params"] = ast.literal_eval(node.value)
                elif node.targets[0].id == "enums":
                    made["enums"] = dict(enums(node.value))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "FacebookRequest":
                for given in node.keywords:
                    if given.arg in ("method", "endpoint") and isinstance(given.value, ast.Constant):
                        made[given.arg] = given.value.value
                    elif given.arg == "target_class":
                        made["target"] = getattr(given.value, "id", ABSTRACT)
        if not {"method", "endpoint", "params", "enums"} <= set(made):
            return None
        made["endpoint"] = made["endpoint"].rstrip("/")
        return made

    def values(self, given):
        """Returns the values of an enumeration that is listed, or is that of a class."""
        if isinstance(given, list):
            return given
        owner = self.get(given[0])
        return owner["enums"].get(given[1], []) if owner else []


def enums(node):
    """Yields the enumerations of a call: their values, or class and name (`Page.Category.__dict__.values()`)."""
    for key, value in zip(node.keys, node.values):
        if isinstance(value, ast.List):
            yield key.value, [one.value for one in value.elts]
        elif isinstance(value, ast.Call):
            inner = value.func.value.value
            yield key.value, (inner.value.id, inner.attr)


def strings_of(found):
    """Returns the strings that the body of a class assigns."""
    return [
        one.value.value for one in found.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
    ]


class Graph:
    """One network of Graph, in the form of the facts."""

    def __init__(self, network, folder):
        self.network = network
        self.classes = Classes(folder)
        self.types = {}
        self.nodes = {}

    def facts(self):
        """Returns the description."""
        operations = [self.operation(key, on) for key, on in NETWORKS[self.network].items()]
        return {
            "network": self.network, "unknown": {"body": "passes"}, "operations": operations, "types": self.types,
            "nodes": self.nodes, "metrics": [],
        }

    def operation(self, key, on):
        """Returns an operation that several kinds of objects may have."""
        method, path = key.split(" ")
        calls = [call for name, edge in on if (call := self.call(method, name, edge))]
        if not calls:
            raise KeyError(f"{self.network}: no class has {key}")
        properties, answers, nodes = {}, [], []
        for call, name, edge in calls:
            given = COMMON | (PAGES if method == "GET" and edge else {}) | call["params"]
            for param, kind in given.items():
                known = properties.get(param)
                made = self.value(kind, call["enums"])
                properties[param] = made if known in (None, made) else {"anyOf": [known, made]}
            target = self.kind_of(call["target"]) if edge else name
            nodes += [target] if self.node(target) else []
            answers.append(self.answer(method, edge, target))
        schema = {"type": "object", "properties": properties}
        made = {"name": key, "method": method, "path": path, "scopes": [], "nodes": sorted(set(nodes))}
        if method == "POST":
            body = {"type": "form", "also": ["multipart", "json"], "schema": schema}
            made |= {"query": schema, "body": body}
        else:
            made |= {"query": schema, "body": {"type": "none"}}
        unique = [one for at, one in enumerate(answers) if one not in answers[:at]]
        return made | {"answers": {"200": unique[0] if len(unique) == 1 else {"anyOf": unique}}}

    def call(self, method, name, edge):
        """Returns a call of a class with its class and edge."""
        found = self.classes.get(name)
        call = found and found["calls"].get((method, edge))
        return (call, name, edge) if call else None

    def kind_of(self, target):
        """Returns the class of what an edge holds; an abstract one is no class."""
        return target if target != ABSTRACT and self.classes.get(target) else ""

    def value(self, kind, enums):
        """Returns the schema of a parameter."""
        found = re.fullmatch(r"(?:list|set)<(.+)>", kind)
        if found:
            # Sent as JSON, or with commas.
            inner = self.value(found[1], enums)
            return {"type": "array", "items": inner} if inner != {} else {}
        if kind in enums:
            known = {str(one) for one in self.classes.values(enums[kind])}
            return {"enum": sorted(known | {one.lower() for one in known})} if known else {}
        return PLAIN.get(kind, {})

    def node(self, name):
        """Keeps the fields and edges of a class; returns whether there is one."""
        found = self.classes.get(name)
        if not found:
            return False
        if name not in self.nodes:
            edges = sorted({edge.strip("/") for method, edge in found["calls"] if method == "GET" and edge})
            self.nodes[name] = {"fields": [*found["fields"], "id"], "edges": edges, "of": {}}
            for field, kind in found["fields"].items():
                inner = re.sub(r"^(?:list|set)<(.+)>$", r"\1", kind)
                if self.classes.get(inner) and self.node(inner):
                    self.nodes[name]["of"][field] = inner
            for (method, edge), call in found["calls"].items():
                target = self.kind_of(call["target"])
                if method == "GET" and edge and target and self.node(target):
                    self.nodes[name]["of"].setdefault(edge.strip("/"), target)
        return True

    def answer(self, method, edge, target):
        """Returns what is answered: an object, a list of them, or what was made."""
        if method == "DELETE":
            return {"type": "object", "properties": {"success": {"type": "boolean"}}}
        schema = self.object(target)
        if method == "POST":
            made = {name: {} for name in ("id", "post_id", "success", "recipient_id", "message_id", "video_id", "upload_url")}
            return {"type": "object", "properties": made | (schema.get("properties", {}) if "$ref" not in schema else {})}
        if not edge:
            return schema
        inside = {"data": {"type": "array", "items": schema}, "paging": {"type": "object"}, "summary": {"type": "object"}}
        return {"type": "object", "properties": inside, "required": ["data"]}

    def object(self, name):
        """Returns the schema of an object, by a reference."""
        found = self.classes.get(name)
        if not found:
            return {"type": "object"}
        if name not in self.types:
            self.types[name] = {}
            properties = {field: self.held(kind) for field, kind in found["fields"].items()}
            edges = {edge.strip("/"): {"type": "object"} for method, edge in found["calls"] if method == "GET" and edge}
            self.types[name] = {"type": "object", "properties": edges | properties | {"id": {"type": "string"}}}
        return {"$ref": f"#/types/{name}"}

    def held(self, kind):
        """Returns the schema of a field's value."""
        found = re.fullmatch(r"(?:list|set)<(.+)>", kind)
        if found:
            inner = self.held(found[1])
            return {"anyOf": [{"type": "array", "items": inner}, {"type": "object"}]}
        if self.classes.get(kind):
            return self.object(kind)
        return PLAIN.get(kind, {})
