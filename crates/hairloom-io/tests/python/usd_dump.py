"""Prints what layers hold, without composition, one line of JSON for each: to compare another reader with Pixar's.

    python usd_dump.py FILE…
"""

import json
import sys

from pxr import Sdf

from usd_check import plain


def dump(name):
    layer = Sdf.Layer.FindOrOpen(name)
    prims = []

    def visit(path):
        if path.IsPrimPath() and not path.ContainsPrimVariantSelection():
            prims.append(describe(layer, layer.GetPrimAtPath(path)))

    layer.Traverse("/", visit)
    print(json.dumps({"upAxis": layer.pseudoRoot.GetInfo("upAxis"), "prims": prims}))


def describe(layer, prim):
    attributes = {}
    for attribute in prim.attributes:
        times = layer.ListTimeSamplesForPath(attribute.path)
        values = [layer.QueryTimeSample(attribute.path, time) for time in times]
        blocked = lambda value: None if isinstance(value, Sdf.ValueBlock) else plain(value)
        attributes[attribute.name] = {
            "type": str(attribute.typeName),
            "default": plain(attribute.default),
            "times": times,
            "values": [blocked(value) for value in values],
        }
    relationships = {}
    for relationship in prim.relationships:
        paths = relationship.targetPathList
        items = paths.explicitItems or list(paths.prependedItems) + list(paths.addedItems) + list(paths.appendedItems)
        relationships[relationship.name] = [str(path) for path in items]
    return {
        "path": str(prim.path),
        "type": prim.typeName,
        "specifier": prim.specifier.displayName,
        "children": [child.name for child in prim.nameChildren],
        "attributes": attributes,
        "relationships": relationships,
    }


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        dump(argument)
