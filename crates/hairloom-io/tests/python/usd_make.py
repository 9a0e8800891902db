"""Writes layers with Pixar's library that use as much of the formats as a cache reader may meet.

    python usd_make.py FILE.usda|FILE.usdc

The version of a binary file comes from USD_WRITE_NEW_USDC_FILES_AS_VERSION, and what needs a later one is left out.
"""

import os
import random
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, Vt


def every_kind(generator):
    """Type names of attributes, and values."""
    types = Sdf.ValueTypeNames
    real = lambda: generator.uniform(-1e3, 1e3)
    wave = [generator.gauss(0.0, 1.0) for _ in range(300)]
    return [
        (types.Bool, True), (types.BoolArray, [True, False] * 20),
        (types.UChar, 250), (types.UCharArray, list(range(100))),
        (types.Int, -123456), (types.IntArray, [12] * 5000),
        (types.IntArray, [generator.randint(-2**31, 2**31 - 1) for _ in range(500)]),
        (types.IntArray, list(range(0, 3000, 3))), (types.IntArray, [1, 2, 3]), (types.IntArray, []),
        (types.UInt, 2**32 - 1), (types.UIntArray, [generator.randint(0, 2**32 - 1) for _ in range(50)]),
        (types.Int64, -2**63), (types.Int64Array, [generator.randint(-2**63, 2**63 - 1) for _ in range(50)]),
        (types.Int64, 5), (types.UInt64, 2**64 - 1), (types.UInt64Array, [2**40 * i for i in range(40)]),
        (types.Half, 0.25), (types.HalfArray, [0.1 * i for i in range(64)]), (types.HalfArray, [float(i) for i in range(64)]),
        (types.Float, 0.1), (types.FloatArray, wave), (types.FloatArray, [float(i % 7) for i in range(500)]),
        (types.FloatArray, [0.1, 0.2, 0.3] * 100), (types.FloatArray, [1e-4] * 1000),
        (types.Double, 0.1), (types.Double, 0.5), (types.DoubleArray, wave), (types.DoubleArray, [0.1, 0.25] * 60),
        (types.DoubleArray, [float(-i) for i in range(100)]),
        (types.String, 'say "hi"\nand \\ go \'on\''), (types.StringArray, ["a", "", "ü\t", "a"]),
        (types.Token, "linear"), (types.TokenArray, ["x", "y", "x"]),
        (types.Asset, "tex/a.png"), (types.AssetArray, ["a b.png", "c.png"]),
        (types.Matrix2d, Gf.Matrix2d(1, 2, 3, 4)), (types.Matrix3d, Gf.Matrix3d(3)),
        (types.Matrix4d, Gf.Matrix4d(1)), (types.Matrix4d, Gf.Matrix4d().SetTranslate((1.5, 2, 3))),
        (types.Matrix4dArray, Vt.Matrix4dArray([Gf.Matrix4d(2), Gf.Matrix4d().SetTranslate((1, 2, 3))])),
        (types.Quatf, Gf.Quatf(0.5, 0.1, 0.2, 0.3)), (types.Quatd, Gf.Quatd(1)), (types.Quath, Gf.Quath(1, 0, 0.5, 0)),
        (types.QuatfArray, [Gf.Quatf(real(), real(), real(), real()) for _ in range(30)]),
        (types.Int2, Gf.Vec2i(1, -2)), (types.Int3, Gf.Vec3i(100000, 2, 3)), (types.Int4Array, [Gf.Vec4i(i, 2, 3, 4) for i in range(20)]),
        (types.Half2, Gf.Vec2h(0.5, 2)), (types.Half3, Gf.Vec3h(0.5, 2, 3)), (types.Half4, Gf.Vec4h(1, 2, 3, 4)),
        (types.Float2, Gf.Vec2f(1, 2)), (types.TexCoord2fArray, [Gf.Vec2f(real(), real()) for _ in range(50)]),
        (types.Point3f, Gf.Vec3f(0.5, 1, 2)), (types.Vector3f, Gf.Vec3f(1, 2, -3)), (types.Color4f, Gf.Vec4f(0, 0, 0, 1)),
        (types.Point3fArray, [Gf.Vec3f(real(), real(), real()) for _ in range(2000)]),
        (types.Double2, Gf.Vec2d(0.1, 2)), (types.Point3dArray, [Gf.Vec3d(real(), 0, 1)] * 20), (types.Double4, Gf.Vec4d(1, 2, 3, 4)),
    ]


def add_kinds(stage, generator, with_timecode):
    prim = stage.DefinePrim("/World/Kinds", "Scope")
    kinds = every_kind(generator)
    if with_timecode:
        kinds += [(Sdf.ValueTypeNames.TimeCode, Sdf.TimeCode(2.5)), (Sdf.ValueTypeNames.TimeCodeArray, [Sdf.TimeCode(1), Sdf.TimeCode(2)])]
    for index, (type_name, value) in enumerate(kinds):
        attribute = prim.CreateAttribute(f"user:kind{index}", type_name)
        attribute.Set(value)
        sampled = prim.CreateAttribute(f"user:sampled{index}", type_name)
        for time in (-3.5, 0, 12.25):
            sampled.Set(value, time)
    blocked = prim.CreateAttribute("user:blocked", Sdf.ValueTypeNames.Float)
    blocked.Set(1.0, 1.0)
    blocked.Set(Sdf.ValueBlock(), 2.0)
    blocked.Set(3.0, 3.0)


def add_hair(stage, generator):
    curves = UsdGeom.BasisCurves.Define(stage, "/World/Hair")
    curves.CreateTypeAttr("cubic")
    curves.CreateCurveVertexCountsAttr([16] * 200)
    curves.CreateWidthsAttr([0.0001])
    curves.SetWidthsInterpolation("constant")
    primvar = UsdGeom.PrimvarsAPI(curves).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "uniform")
    primvar.Set([Gf.Vec2f(generator.random(), generator.random()) for _ in range(200)])
    for frame in range(1, 6):
        points = [Gf.Vec3f(generator.random(), generator.random(), generator.random()) for _ in range(3200)]
        curves.CreatePointsAttr().Set(points, frame)
        curves.CreateVelocitiesAttr().Set([Gf.Vec3f(0, -frame, 0)] * 3200, frame)


def add_mesh(stage):
    mesh = UsdGeom.Mesh.Define(stage, "/World/Body")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    translate, rotate = mesh.AddTranslateOp(), mesh.AddRotateXYZOp()
    for frame in range(10):
        translate.Set(Gf.Vec3d(frame * 0.1, 0, 0), frame)
        rotate.Set(Gf.Vec3f(0, frame, 0), frame)


def add_composition(stage):
    """What is stepped over: it must neither fail nor show."""
    model = stage.DefinePrim("/World/Model", "Xform")
    model.SetDocumentation('a "model"\nof two lines')
    model.SetCustomDataByKey("note", "text")
    model.SetCustomDataByKey("deep:er:number", 3.5)
    model.ApplyAPI(UsdGeom.ModelAPI)
    stage.CreateClassPrim("/_base")
    model.GetInherits().AddInherit("/_base")
    model.GetReferences().AddInternalReference("/_base", Sdf.LayerOffset(10, 2))
    model.GetPayloads().AddInternalPayload("/_base")
    variants = model.GetVariantSets().AddVariantSet("look")
    for name in ("plain", "fancy"):
        variants.AddVariant(name)
        variants.SetVariantSelection(name)
        with variants.GetVariantEditContext():
            stage.DefinePrim("/World/Model/Inside", "Scope")
            model.CreateAttribute("user:inside", Sdf.ValueTypeNames.Int).Set(7)
    relation = model.CreateRelationship("user:relation")
    relation.AddTarget("/World/Hair")
    relation.AddTarget("/World/Body.points")
    driven = model.CreateAttribute("user:driven", Sdf.ValueTypeNames.Float)
    driven.AddConnection("/World/Kinds.user:kind0")
    stage.OverridePrim("/Elsewhere/Prim")


def main():
    version = os.environ.get("USD_WRITE_NEW_USDC_FILES_AS_VERSION", "0.9.0")
    generator = random.Random(7)
    stage = Usd.Stage.CreateNew(sys.argv[1])
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetTimeCodesPerSecond(30)
    stage.SetStartTimeCode(1)
    stage.SetEndTimeCode(5)
    stage.GetRootLayer().customLayerData = {"made": {"by": "usd_make"}, "count": 3}
    world = stage.DefinePrim("/World", "Xform")
    stage.SetDefaultPrim(world)
    add_hair(stage, generator)
    add_kinds(stage, generator, tuple(map(int, version.split("."))) >= (0, 9, 0))
    add_mesh(stage)
    add_composition(stage)
    stage.GetRootLayer().Save()


if __name__ == "__main__":
    main()
