"""Imports Alembic archives and USD layers into Blender and prints what it has then, one line of JSON for each.

    python blender.py FILE…
"""

import json
import os
import sys

import bpy


def bounds(coordinates):
    columns = list(zip(*coordinates))
    return [[min(column) for column in columns], [max(column) for column in columns]]


def world(thing, coordinates):
    return [tuple(thing.matrix_world @ point) for point in coordinates]


def describe(thing):
    data = thing.data
    if thing.type == "CURVES":
        coordinates = world(thing, [point.position for point in data.points])
        return {
            "curves": len(data.curves),
            "points": len(data.points),
            "counts": [curve.points_length for curve in data.curves],
            "bounds": bounds(coordinates),
            "radii": [point.radius for point in data.points],
            "attributes": sorted(attribute.name for attribute in data.attributes),
        }
    if thing.type == "CURVE":
        splines = [[point.co.xyz for point in spline.points] for spline in data.splines]
        coordinates = world(thing, [point for spline in splines for point in spline])
        counts = [len(spline) for spline in splines]
        return {"curves": len(counts), "points": sum(counts), "counts": counts, "bounds": bounds(coordinates)}
    if thing.type == "MESH":
        coordinates = world(thing, [vertex.co for vertex in data.vertices])
        # Whether faces look away from the middle, as they do on a closed body.
        middle = sum((polygon.center for polygon in data.polygons), start=data.polygons[0].center * 0)
        middle /= len(data.polygons)
        outward = sum(polygon.normal.dot(polygon.center - middle) > 0 for polygon in data.polygons)
        return {
            "points": len(coordinates),
            "faces": len(data.polygons),
            "outward": outward,
            "bounds": bounds(coordinates),
        }
    return {}


def dump(name):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    # Blender talks on standard output.
    kept = os.dup(1)
    os.dup2(2, 1)
    if name.endswith(".abc"):
        bpy.ops.wm.alembic_import(filepath=name, as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=name, import_guide=True)
    scene = bpy.context.scene
    frames = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        view = bpy.context.evaluated_depsgraph_get()
        frames[frame] = {thing.name: {"type": thing.type} | describe(thing.evaluated_get(view)) for thing in scene.objects}
    sys.stdout.flush()
    os.dup2(kept, 1)
    os.close(kept)
    print(json.dumps({"frames": frames}), flush=True)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        dump(argument)
