"""Tests of the script: `python3 -m unittest vendor_facts.test_make`, from `scripts/`."""

import contextlib
import io
import json
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import discovery, lexicons, make, networks, openapi, overlay, slack, telegram, validate
from .schema import Book, Unreadable


def described(module, file, wanted, name="api.json"):
    """Returns a reader of a small description."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        if name.endswith(".tar.gz"):
            with tarfile.open(path, "w:gz") as archive:
                for key, one in file.items():
                    data = json.dumps(one).encode()
                    entry = tarfile.TarInfo(f"lexicons/{key}.json")
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))
        else:
            path.write_text(json.dumps(file), encoding="utf-8")
        return module.Description(path, wanted)


def run(*arguments):
    """Returns the status and what was said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = make.main(list(arguments))
    return status, said.getvalue()


class Schemas(unittest.TestCase):
    """Names, types and limits stay; sentences go."""

    def facts(self, schema, named=None, is_open=True, depth=None):
        book = Book(named or {}, is_open, depth)
        book.take(schema, depth)
        return book.facts(schema), book.types()

    def test_sentences_and_examples_are_left_out_and_names_like_them_are_kept(self):
        schema = {"type": "object", "title": "A pin", "description": "It is red.", "properties": {
            "title": {"type": "string", "maxLength": 100, "example": "Red"}, "description": {"type": "string"},
        }}
        made, _ = self.facts(schema)
        self.assertEqual(made, {
            "type": "object", "additionalProperties": True,
            "properties": {"title": {"type": "string", "maxLength": 100}, "description": {"type": "string"}},
        })

    def test_null_is_taken_where_the_description_says_so(self):
        made, _ = self.facts({"type": "string", "enum": ["a"], "nullable": True})
        self.assertEqual(made, {"type": ["string", "null"], "enum": ["a", None]})

    def test_constants_are_an_enumeration(self):
        made, _ = self.facts({"type": "integer", "oneOf": [{"const": 1, "title": "one"}, {"const": 2}]})
        self.assertEqual(made, {"type": "integer", "enum": [1, 2]})

    def test_what_is_farther_than_asked_is_no_more_than_its_type(self):
        named = {"A": {"type": "object", "properties": {"b": {"$ref": "#/B"}}}, "B": {"type": "object", "properties": {}}}
        made, types = self.facts({"$ref": "#/A"}, named, depth=1)
        self.assertEqual(made, {"$ref": "#/types/A"})
        self.assertEqual(list(types), ["A"])
        self.assertEqual(types["A"]["properties"]["b"], {"type": "object"})

    def test_a_keyword_that_is_not_known_is_an_error(self):
        with self.assertRaisesRegex(Unreadable, "unevaluatedItems"):
            self.facts({"unevaluatedItems": False})


class Kinds(unittest.TestCase):
    """Each kind of description."""

    def test_openapi(self):
        api = {"info": {"version": "5"}, "components": {"schemas": {"Made": {"type": "object"}}}, "paths": {"/pins": {
            "post": {
                "parameters": [{"in": "query", "name": "metric_types", "required": True, "schema": {
                    "type": "array", "items": {"enum": ["SAVE", "PIN_CLICK"]}}}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Made"}}}},
                "responses": {"201": {"content": {"application/json": {"schema": {}}}}, "404": {}},
                "security": [{"user": ["pins:read", "pins:write"]}, {"app": ["pins:read"]}],
            }}}}
        wanted = {"operations": {"create": "POST /pins"}, "base": "/v5", "security": "user"}
        made = described(openapi, api, wanted).operations()[0]
        self.assertEqual((made["method"], made["path"]), ("POST", "/v5/pins"))
        self.assertEqual(made["scopes"], [["pins:read", "pins:write"]])
        self.assertEqual(made["query"]["required"], ["metric_types"])
        self.assertEqual(
            made["query"]["properties"]["metric_types"]["pattern"], "^(SAVE|PIN_CLICK)(,(SAVE|PIN_CLICK))*$")
        self.assertEqual(list(made["answers"]), ["201"])
        with self.assertRaisesRegex(Unreadable, "PATCH /pins"):
            described(openapi, api, wanted | {"operations": {"change": "PATCH /pins"}}).operations()

    def test_discovery(self):
        method = {
            "httpMethod": "POST", "flatPath": "youtube/v3/videos", "scopes": ["s1", "s2"],
            "parameters": {"part": {"location": "query", "repeated": True, "required": True, "type": "string"}},
            "request": {"$ref": "Video"}, "response": {"$ref": "Video"},
            "mediaUpload": {"accept": ["video/*"], "maxSize": "9", "protocols": {
                "simple": {"path": "/upload/youtube/v3/videos"}, "resumable": {"path": "/resumable/upload/youtube/v3/videos"}}},
        }
        api = {
            "version": "v3", "revision": "1", "parameters": {"alt": {"type": "string"}},
            "schemas": {"Video": {"properties": {"snippet": {"$ref": "S"}, "kind": {"type": "string"}}}},
            "resources": {"videos": {"methods": {"insert": method}}},
        }
        wanted = {"operations": {"upload": "videos.insert"}, "uploads": {"videos.insert": "resumable"},
                  "parts": {"videos.insert": "Video"}}
        made = described(discovery, api, wanted).operations()
        self.assertEqual([(one["method"], one["path"]) for one in made], [
            ("POST", "/upload/youtube/v3/videos"), ("PUT", "/upload/youtube/v3/videos"),
            ("POST", "/resumable/upload/youtube/v3/videos"), ("PUT", "/resumable/upload/youtube/v3/videos"),
        ])
        self.assertEqual(made[0]["scopes"], [["s1"], ["s2"]])
        self.assertEqual(made[0]["query"]["properties"]["part"]["items"]["pattern"], "^(id|snippet)(,(id|snippet))*$")
        self.assertEqual(made[1]["body"]["schema"], {"x-accept": ["video/*"], "x-max-bytes": 9})

    def test_lexicons(self):
        post = {"id": "app.post", "defs": {"main": {"type": "record", "record": {
            "type": "object", "required": ["text"], "properties": {
                "text": {"type": "string", "maxLength": 3000, "maxGraphemes": 300},
                "picture": {"type": "blob", "accept": ["image/*"], "maxSize": 5},
                "embed": {"type": "union", "refs": ["#card"]}}}},
            "card": {"type": "object", "properties": {}}}}
        write = {"id": "com.write", "defs": {"main": {
            "type": "procedure", "errors": [{"name": "InvalidSwap"}],
            "input": {"encoding": "application/json", "schema": {"type": "object", "properties": {
                "record": {"type": "unknown"}}}}}}}
        wanted = {"operations": {"write": "com.write"}, "records": ["app.post"], "source": "l"}
        read = described(lexicons, {"a": post, "b": write}, wanted, "l.tar.gz")
        made = read.operations()[0]
        self.assertEqual(made["path"], "/xrpc/com.write")
        self.assertIn({"allOf": [{"$ref": "#/app.post"}, {"required": ["$type"]}]},
                      made["body"]["schema"]["properties"]["record"]["anyOf"])
        text = read.schemas["app.post"]["properties"]["text"]
        self.assertEqual((text["x-max-bytes"], text["x-max-graphemes"]), (3000, 300))
        self.assertEqual(read.schemas["app.post"]["properties"]["picture"]["properties"]["size"]["maximum"], 5)
        other = read.schemas["app.post"]["properties"]["embed"]["anyOf"][-1]
        self.assertEqual(other["properties"]["$type"]["not"], {"enum": ["app.post#card"]})
        self.assertEqual(read.refusals()[0]["code"], "InvalidSwap")

    def test_telegram(self):
        table = {"version": "1", "types": {}, "methods": {"sendPhoto": {
            "returns": ["Boolean"], "limits": ["at most 10 MB"], "fields": [
                {"name": "chat_id", "types": ["Integer", "String"], "required": True},
                {"name": "photo", "types": ["InputFile", "String"], "required": True},
                {"name": "caption", "types": ["String"], "required": False,
                 "limits": ["0-1024 characters after entities parsing"]}]}}}
        made = described(telegram, table, {"operations": {"send": "sendPhoto"}}).operations()[0]
        fields = made["body"]["schema"]
        self.assertEqual(made["path"], "/bot{token}/sendPhoto")
        self.assertEqual(fields["required"], ["chat_id", "photo"])
        self.assertEqual(fields["properties"]["chat_id"], {"anyOf": [{"type": "integer"}, {"type": "string"}]})
        self.assertEqual(fields["properties"]["photo"], {"type": "string", "x-max-bytes": 10 << 20})
        self.assertEqual(fields["properties"]["caption"]["x-max-visible"], 1024)

    def test_slack(self):
        text = {"type": "object", "required": ["channel", "text"], "properties": {
            "channel": {"type": "string"}, "text": {"type": "string"}}}
        blocks = {"type": "object", "required": ["channel", "blocks"], "properties": {
            "channel": {"type": "string"},
            "blocks": {"type": "array", "items": {"anyOf": [slack.KNOWN, slack.BLOCK]}}}}
        file = {"x-version": "8", "definitions": {
            "ChatPostMessageArguments": {"anyOf": [text, blocks]}, "ChatPostMessageResponse": {"type": "object"},
            "KnownBlock": {"type": "object", "properties": {"type": {"const": "header"}}}, "Block": {}}}
        wanted = {"operations": {"post": "chat.postMessage"}, "reads": [], "forms": []}
        made = described(slack, file, wanted).operations()
        self.assertEqual([one["path"] for one in made], ["/api/chat.postMessage"])
        schema = made[0]["body"]["schema"]
        self.assertEqual((sorted(schema["properties"]), schema["required"]), (["blocks", "channel", "text"], ["channel"]))
        other = schema["properties"]["blocks"]["items"]["anyOf"][1]
        self.assertEqual(other["properties"]["type"]["not"], {"enum": ["header"]})
        asked = described(slack, file, wanted | {"reads": ["chat.postMessage"]}).operations()
        self.assertEqual([one["method"] for one in asked], ["POST", "GET"])


class ByHand(unittest.TestCase):
    """What is added by hand."""

    def setUp(self):
        self.facts = {"sources": {}, "scopes": {}, "types": {"T": {"type": "object", "pattern": "a"}}, "nodes": {},
                      "operations": [], "metrics": [], "refusals": [{"on": "x", "code": 1, "when": "made"}]}
        self.hand = {"sources": {"p": {"verified": False}}, "unknown": {}}

    def test_an_entry_needs_a_source_and_says_that_it_was_not_verified(self):
        for wrong in ({"name": "m", "source": "p"}, {"name": "m", "verified": False}):
            with self.assertRaises(overlay.Unsound):
                overlay.add(self.facts, self.hand | {"metrics": [wrong]})
        with self.assertRaises(overlay.Unsound):
            overlay.add(self.facts, self.hand | {"sources": {"p": {"verified": True}}})

    def test_a_refusal_by_hand_replaces_the_made_one(self):
        own = [{"on": "x", "code": 1, "when": when, "source": "p", "verified": False} for when in ("a", "b")]
        overlay.add(self.facts, self.hand | {"refusals": own})
        self.assertEqual([one["when"] for one in self.facts["refusals"]], ["a", "b"])

    def test_a_change_sets_and_takes_away_and_must_find_its_place(self):
        change = {"at": ["types", "T"], "set": {"pattern": None, "maxLength": 3}, "source": "p", "verified": False}
        overlay.add(self.facts, self.hand | {"changes": [change]})
        self.assertEqual(self.facts["types"]["T"], {"type": "object", "maxLength": 3})
        with self.assertRaisesRegex(overlay.Unsound, "types/U"):
            overlay.add(self.facts, self.hand | {"changes": [change | {"at": ["types", "U"]}]})

    def test_every_file_by_hand_belongs_to_a_network(self):
        files = {path.stem for path in overlay.FOLDER.glob("*.json")}
        self.assertEqual(files, set(networks.NETWORKS))


class Command(unittest.TestCase):
    """The command."""

    def test_a_missing_description_is_named_with_where_it_is_obtained(self):
        with tempfile.TemporaryDirectory() as folder:
            status, said = run("--from", folder, "--check", "discord")
        self.assertEqual(status, 1)
        self.assertIn("discord.json is missing", said)
        self.assertIn("github.com/discord/discord-api-spec", said)

    def test_check_names_a_file_that_would_change_and_writes_nothing(self):
        table = {"version": "1", "types": {}, "methods": {"getMe": {"returns": ["Boolean"]}}}
        wanted = {"file": "t.json", "kind": "telegram", "source": "t", "seen": "2026-01-01", "obtained": "x", "from": "y",
                  "operations": {"me": "getMe"}}
        hand = {"sources": {}, "unknown": {"query": "passes", "body": "passes", "source": "t"}}
        small = {"toy": {"open": True, "depth": 1, "descriptions": [wanted]}}
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(make, "NETWORKS", small), \
                mock.patch.object(overlay, "read", lambda network: hand):
            (Path(folder) / "t.json").write_text(json.dumps(table), encoding="utf-8")
            arguments = ("--from", folder, "--to", folder)
            self.assertEqual(run(*arguments, "--check"), (1, "toy.json would change\n"))
            self.assertFalse((Path(folder) / "toy.json").exists())
            self.assertEqual(run(*arguments), (0, "toy.json written\n"))
            self.assertEqual(run(*arguments, "--check"), (0, ""))
            self.assertEqual(validate.check(Path(folder) / "toy.json"), [])

    def test_the_files_are_sound_and_small_enough(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(validate.main([]), 0, said.getvalue())


if __name__ == "__main__":
    unittest.main()
