"""Adds what no description says: small files by hand, each entry with its source."""

import copy
import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "by_hand"
LISTS = ("operations", "metrics", "refusals")


class Unsound(Exception):
    """A file by hand that cannot be added."""


def read(network):
    """Returns the file of a network."""
    return json.loads((FOLDER / f"{network}.json").read_text(encoding="utf-8"))


def add(facts, hand):
    """Adds a file by hand. What it says of an error wins over what a description names."""
    for name, source in hand["sources"].items():
        if source["verified"] is not False:
            raise Unsound(f"source {name!r}: nothing by hand is verified")
    facts["sources"] |= hand["sources"]
    facts["unknown"] = hand["unknown"]
    facts["scopes"] |= hand.get("scopes", {})
    facts["types"] |= hand.get("types", {})
    facts["nodes"] |= hand.get("nodes", {})
    if "as_real" in hand:
        facts["as_real"] = hand["as_real"]
    known = [(one["on"], one["code"]) for one in hand.get("refusals", []) if isinstance(one["on"], str)]
    facts["refusals"] = [one for one in facts["refusals"] if (one["on"], one["code"]) not in known]
    for key in LISTS:
        facts[key] += [checked(key, one) for one in hand.get(key, [])]
    for one in hand.get("changes", []):
        change(facts, checked("changes", one))


def checked(key, one):
    """Returns an entry as it is stored; that it was not verified stands at its source."""
    if one.get("verified") is not False or "source" not in one:
        raise Unsound(f"{key}: {one.get('name', one.get('when', one.get('at')))!r} needs a source and verified: false")
    return {name: value for name, value in one.items() if name != "verified"}


def change(facts, one):
    """Changes a place in an operation or type that was made from a description."""
    kind, name, *path = one["at"]
    if kind == "operations":
        place = next((two for two in facts[kind] if two["name"] == name), None)
    else:
        place = facts[kind].get(name)
    for step in path:
        place = place.get(step) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        raise Unsound(f"there is nothing at {'/'.join(one['at'])}")
    merge(place, copy.deepcopy(one["set"]))


def merge(place, given):
    """Sets values in place; null takes one away."""
    for key, value in given.items():
        if value is None:
            place.pop(key, None)
        elif isinstance(value, dict) and isinstance(place.get(key), dict):
            merge(place[key], value)
        else:
            place[key] = value
