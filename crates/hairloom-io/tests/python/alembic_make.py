"""Writes archives with Alembic's own library, and prints what our reader must make of them, as one line of JSON.

    python alembic_make.py FOLDER
"""

import json
import math
import pathlib
import sys

import imath
from alembic3d import Abc, AbcCoreAbstract, AbcGeom

FPS = 24.0
SCOPE = AbcGeom.GeometryScope


def ints(values):
    array = imath.IntArray(len(values))
    for index, value in enumerate(values):
        array[index] = value
    return array


def uints(values):
    array = imath.UnsignedIntArray(len(values))
    for index, value in enumerate(values):
        array[index] = value
    return array


def floats(values):
    array = imath.FloatArray(len(values))
    for index, value in enumerate(values):
        array[index] = value
    return array


def vectors(kind, element, values):
    array = kind(len(values))
    for index, value in enumerate(values):
        array[index] = element(*value)
    return array


def points(values):
    return vectors(imath.V3fArray, imath.V3f, values)


def param(compound, kind, sample, name, values, scope):
    made = kind(compound, name, False, scope, 1)
    made.set(sample(values, scope))


def hair(archive, sampling):
    """Curves that move under a stack of operations that moves, with parameters of every kind."""
    xform = AbcGeom.OXform(archive.getTop(), "groom", sampling)
    for frame in range(3):
        place = AbcGeom.XformSample()
        place.setTranslation(imath.V3d(1, 2, 3 + frame))
        place.setXRotation(30.0)
        place.setRotation(imath.V3d(0, 1, 1), 45.0)
        place.setScale(imath.V3d(2, 2, 2))
        xform.getSchema().set(place)
    curves = AbcGeom.OCurves(xform, "strands", sampling)
    schema = curves.getSchema()
    for frame in range(3):
        positions = points([(i, frame, 0.5 * i) for i in range(5)])
        widths = AbcGeom.OFloatGeomParamSample(floats([0.1, 0.2]), SCOPE.kUniformScope)
        linear, open_ended = AbcGeom.CurveType.kLinear, AbcGeom.CurvePeriodicity.kNonPeriodic
        schema.set(AbcGeom.OCurvesSchemaSample(positions, ints([2, 3]), linear, open_ended, widths))
    params = schema.getArbGeomParams()
    uniform = SCOPE.kUniformScope
    param(params, AbcGeom.OInt32GeomParam, AbcGeom.OInt32GeomParamSample, "groom_id", ints([7, 8]), uniform)
    param(params, AbcGeom.OInt32GeomParam, AbcGeom.OInt32GeomParamSample, "groom_group_id", ints([5]), SCOPE.kConstantScope)
    uv = vectors(imath.V2fArray, imath.V2f, [(0.25, 0.5), (0.75, 1)])
    param(params, AbcGeom.OV2fGeomParam, AbcGeom.OV2fGeomParamSample, "groom_root_uv", uv, uniform)
    guides = vectors(imath.V3iArray, imath.V3i, [(1, 2, 3), (4, 5, 6)])
    param(params, AbcGeom.OV3iGeomParam, AbcGeom.OV3iGeomParamSample, "groom_closest_guides", guides, uniform)
    indexed = AbcGeom.OFloatGeomParam(params, "shade", True, SCOPE.kVertexScope, 1)
    indexed.set(AbcGeom.OFloatGeomParamSample(floats([0.5, 0.25]), uints([0, 1, 1, 0, 1]), SCOPE.kVertexScope))
    names = imath.StringArray("ab", 2)
    param(params, AbcGeom.OStringGeomParam, AbcGeom.OStringGeomParamSample, "names", names, uniform)
    matrix = xform_matrix(45.0)
    moved = [[apply(matrix, (i, frame, 0.5 * i), frame) for i in range(5)] for frame in range(3)]
    return {"times": [frame / FPS for frame in range(3)], "points": moved, "counts": [2, 3]}


def cubic(archive, _):
    """A B-spline under a transform that does not inherit the one above, and a Bézier curve in another object."""
    xform = AbcGeom.OXform(archive.getTop(), "groom")
    place = AbcGeom.XformSample()
    place.setScale(imath.V3d(5, 5, 5))
    xform.getSchema().set(place)
    loose = AbcGeom.OXform(xform, "loose")
    place = AbcGeom.XformSample()
    place.setInheritsXforms(False)
    place.setTranslation(imath.V3d(0, 10, 0))
    loose.getSchema().set(place)
    control = [(0, 0, 0), (1, 0.5, 0), (2, 0, 0), (3, 0, 0)]
    for parent, name, basis in (
        (loose, "spline", AbcGeom.BasisType.kBsplineBasis),
        (xform, "bezier", AbcGeom.BasisType.kBezierBasis),
    ):
        AbcGeom.OCurves(parent, name).getSchema().set(
            AbcGeom.OCurvesSchemaSample(
                points(control),
                ints([4]),
                AbcGeom.CurveType.kCubic,
                AbcGeom.CurvePeriodicity.kNonPeriodic,
                AbcGeom.OFloatGeomParamSample(),
                AbcGeom.OV2fGeomParamSample(),
                AbcGeom.ON3fGeomParamSample(),
                basis,
            )
        )
    steps = [step / 200 for step in range(201)]
    spline = [[x, y + 10, z] for x, y, z in (combine(bspline_weights(t), control) for t in steps)]
    bezier = [[5 * part for part in combine(bezier_weights(t), control)] for t in steps]
    return {"times": [], "points": [[spline, bezier]]}


def bspline_weights(t):
    return [(1 - t) ** 3 / 6, (3 * t**3 - 6 * t**2 + 4) / 6, (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6, t**3 / 6]


def bezier_weights(t):
    return [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]


def combine(weights, control):
    return [sum(weight * point[axis] for weight, point in zip(weights, control)) for axis in range(3)]


def xform_matrix(angle):
    turn = math.radians(30.0)
    about_x = [[1, 0, 0], [0, math.cos(turn), -math.sin(turn)], [0, math.sin(turn), math.cos(turn)]]
    axis, a = (0, math.sqrt(0.5), math.sqrt(0.5)), math.radians(angle)
    x, y, z = axis
    c, s, k = math.cos(a), math.sin(a), 1 - math.cos(a)
    about_axis = [
        [c + x * x * k, x * y * k - z * s, x * z * k + y * s],
        [y * x * k + z * s, c + y * y * k, y * z * k - x * s],
        [z * x * k - y * s, z * y * k + x * s, c + z * z * k],
    ]
    return about_x, about_axis


def apply(matrices, point, frame):
    """Scale, then the turn about the axis, then the turn about x, then the translation."""
    for part in (matrices[1], matrices[0]):
        scale = 2 if part is matrices[1] else 1
        point = [scale * sum(row[i] * point[i] for i in range(3)) for row in part]
    return [point[0] + 1, point[1] + 2, point[2] + 3 + frame]


def body(archive, sampling):
    """A mesh of a quadrangle and a triangle that deforms."""
    made = AbcGeom.OPolyMesh(archive.getTop(), "body", sampling)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)]
    # Clockwise, as Alembic has it, seen from +z.
    indices, counts = [3, 2, 1, 0, 2, 4, 1], [4, 3]
    for frame in range(4):
        moved = points([(x, y, z + frame) for x, y, z in corners])
        made.getSchema().set(AbcGeom.OPolyMeshSchemaSample(moved, ints(indices), ints(counts)))
    return {"points": [[[x, y, z + frame] for x, y, z in corners] for frame in range(4)], "triangles": 3}


def make(folder):
    expected = {}
    for name, write in (("hair", hair), ("cubic", cubic), ("body", body)):
        archive = Abc.OArchive(str(folder / f"{name}.abc"))
        sampling = archive.addTimeSampling(AbcCoreAbstract.TimeSampling(1 / FPS, 0.0))
        expected[name] = write(archive, sampling)
        del archive
    print(json.dumps(expected))


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
