"""Makes stages that are put together from many layers, and prints what Pixar's library finds in them: for each stage its
curves and meshes (number of points, bounds) at some times."""

import json
import os
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, UsdUtils, Vt


def curves(stage, path, base, samples=(0,)):
    prim = UsdGeom.BasisCurves.Define(stage, path)
    prim.CreateTypeAttr(UsdGeom.Tokens.linear)
    prim.CreateCurveVertexCountsAttr([3, 2])
    for time in samples:
        points = [Gf.Vec3f(base + i, i * i * 0.5, time * 0.25 - i) for i in range(5)]
        if len(samples) == 1:
            prim.CreatePointsAttr(points)
        else:
            prim.CreatePointsAttr().Set(points, time)
    return prim


def mesh(stage, path, size):
    prim = UsdGeom.Mesh.Define(stage, path)
    prim.CreatePointsAttr([(0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size)])
    prim.CreateFaceVertexCountsAttr([3, 3])
    prim.CreateFaceVertexIndicesAttr([0, 1, 2, 0, 2, 3])
    return prim


def asset(path, base, rate=24):
    stage = Usd.Stage.CreateNew(path)
    stage.SetTimeCodesPerSecond(rate)
    root = UsdGeom.Xform.Define(stage, "/Asset")
    stage.SetDefaultPrim(root.GetPrim())
    curves(stage, "/Asset/Geo/Hair", base, (0, 6, 12))
    mesh(stage, "/Asset/Geo/Body", base + 1)
    sets = root.GetPrim().GetVariantSets().AddVariantSet("size")
    for name, scale in (("small", 0.5), ("large", 4.0)):
        sets.AddVariant(name)
        sets.SetVariantSelection(name)
        with sets.GetVariantEditContext():
            UsdGeom.XformCommonAPI(UsdGeom.Xform.Define(stage, "/Asset/Geo")).SetScale((scale, 1, scale))
            if name == "large":
                curves(stage, "/Asset/Geo/Extra", 20 * base)
    sets.SetVariantSelection("small")
    stage.GetRootLayer().Save()
    return path


def shot(folder, extension):
    one = asset(os.path.join(folder, f"one.{extension}"), 1.0)
    two = asset(os.path.join(folder, f"./two.{extension}"), 3.0, rate=48)
    base = Usd.Stage.CreateNew(os.path.join(folder, f"base.{extension}"))
    base.SetTimeCodesPerSecond(12)
    hero = UsdGeom.Xform.Define(base, "/World/Hero").GetPrim()
    hero.GetReferences().AddReference(f"./one.{extension}", Sdf.LayerOffset(10, 2))
    curves(base, "/World/Moving", 40, (0, 8))
    base.GetRootLayer().Save()
    path = os.path.join(folder, f"shot.{extension}")
    stage = Usd.Stage.CreateNew(path)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, "Z")
    stage.SetTimeCodesPerSecond(24)
    layer = stage.GetRootLayer()
    layer.subLayerPaths.append(f"./base.{extension}")
    layer.subLayerOffsets[0] = Sdf.LayerOffset(3, 0.5)
    world = stage.OverridePrim("/World")
    world.SetSpecifier(Sdf.SpecifierDef)
    UsdGeom.XformCommonAPI(UsdGeom.Xform(stage.DefinePrim("/World", "Xform"))).SetTranslate((1, 2, 3))
    # Another reference before the one that the sublayer gives, and another choice.
    hero = stage.OverridePrim("/World/Hero")
    hero.GetReferences().AddReference(f"./two.{extension}", "/Asset/Geo", position=Usd.ListPositionFrontOfPrependList)
    second = stage.DefinePrim("/World/Second", "Xform")
    second.GetPayloads().AddPayload(f"./two.{extension}")
    second.GetVariantSets().SetSelection("size", "large")
    UsdGeom.XformCommonAPI(second).SetTranslate((0, 50, 0))
    third = stage.DefinePrim("/World/Third")
    third.GetReferences().AddInternalReference("/World/Second/Geo", Sdf.LayerOffset(4))
    third.GetReferences().AddReference(f"./one.{extension}", "/Asset/Geo", position=Usd.ListPositionBackOfAppendList)
    stage.OverridePrim("/World/Third/Body").SetActive(False)
    UsdGeom.Xform.Define(stage, "/World/Third").AddRotateZOp().Set(30)
    stage.OverridePrim("/World/Nothing").GetReferences().AddReference(f"./one.{extension}")
    stage.OverridePrim("/World/Never/Hair").CreateAttribute("points", Sdf.ValueTypeNames.Point3fArray).Set([(9, 9, 9)])
    layer.Save()
    return path


def found(path, times):
    stage = Usd.Stage.Open(path)
    turn = Gf.Matrix4d(1)
    if UsdGeom.GetStageUpAxis(stage) == "Z":
        turn = Gf.Matrix4d(1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1)
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    rows = []
    sampled = set()
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.BasisCurves):
            sampled |= set(UsdGeom.BasisCurves(prim).GetPointsAttr().GetTimeSamples())
    for time in times:
        row = {"time": time}
        for kind, schema in (("curves", UsdGeom.BasisCurves), ("meshes", UsdGeom.Mesh)):
            all_points, prims = [], 0
            for prim in stage.Traverse():
                if not prim.IsA(schema):
                    continue
                prims += 1
                matrix = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(time) * turn
                points = schema(prim).GetPointsAttr().Get(time)
                all_points += [matrix.Transform(Gf.Vec3d(point)) * unit for point in points]
            row[kind] = {
                "prims": prims,
                "points": len(all_points),
                "low": [min(p[i] for p in all_points) for i in range(3)],
                "high": [max(p[i] for p in all_points) for i in range(3)],
                "sum": [sum(p[i] for p in all_points) for i in range(3)],
            }
        rows.append(row)
    return {"path": path, "rows": rows, "times": sorted(sampled)}


def main():
    folder = sys.argv[1]
    times = [-5.0, 0.0, 3.5, 7.0, 12.25, 30.0]
    all_found = []
    for extension in ("usda", "usdc"):
        inside = os.path.join(folder, extension)
        os.mkdir(inside)
        path = shot(inside, extension)
        all_found.append(found(path, times))
        package = os.path.join(folder, f"{extension}.usdz")
        assert UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(path), package)
        all_found.append(found(package, times))
        # A stage that references the package.
        outer = os.path.join(folder, f"outer-{extension}.usda")
        stage = Usd.Stage.CreateNew(outer)
        UsdGeom.SetStageMetersPerUnit(stage, 1)
        prim = stage.DefinePrim("/Shot", "Xform")
        prim.GetReferences().AddReference(f"./{extension}.usdz", "/World", Sdf.LayerOffset(1))
        stage.GetRootLayer().Save()
        all_found.append(found(outer, times))
    print(json.dumps(all_found))


main()
