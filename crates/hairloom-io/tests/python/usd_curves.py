"""Makes layers with cubic curves and guides with Pixar's library, packs one as .usdz, and prints where the curves are.

    python usd_curves.py FOLDER

Writes curves.usdc and curves.usdz. Prints JSON: for each strand its basis, its wrap and points of its curve.
"""

import json
import sys
from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom, UsdUtils

BEZIER = lambda t: [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3]
BSPLINE = lambda t: [(1 - t) ** 3 / 6, (3 * t**3 - 6 * t**2 + 4) / 6, (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6, t**3 / 6]
CATMULL = lambda t: [(-t + 2 * t**2 - t**3) / 2, (2 - 5 * t**2 + 3 * t**3) / 2, (t + 4 * t**2 - 3 * t**3) / 2, (t**3 - t**2) / 2]
BASES = {"bezier": (BEZIER, 3), "bspline": (BSPLINE, 1), "catmullRom": (CATMULL, 1)}
CONTROLS = [(0, 0, 0), (0, 1, 0.2), (0.5, 2, 0), (1, 2.5, 0.1), (1.5, 3, 0.2), (1.8, 4, 0), (1.9, 5, 0.1)]


def curve(basis, wrap):
    """Points of the curve, close together."""
    weights, step = BASES[basis]
    points = [Gf.Vec3d(*point) for point in CONTROLS]
    if wrap == "pinned":
        points = [2 * points[0] - points[1]] + points + [2 * points[-1] - points[-2]]
    found = []
    for start in range(0, len(points) - 3, step):
        for index in range(65):
            parts = zip(weights(index / 64), points[start : start + 4])
            found.append([float(x) for x in sum((p * w for w, p in parts), Gf.Vec3d(0))])
    return found


def main():
    folder = Path(sys.argv[1])
    path = str(folder / "curves.usdc")
    stage = Usd.Stage.CreateNew(path)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    strands = []
    for basis in BASES:
        for wrap in ["nonperiodic"] if basis == "bezier" else ["nonperiodic", "pinned"]:
            prim = UsdGeom.BasisCurves.Define(stage, f"/World/{basis}_{wrap}")
            prim.CreateTypeAttr("cubic")
            prim.CreateBasisAttr(basis)
            prim.CreateWrapAttr(wrap)
            prim.CreateCurveVertexCountsAttr([len(CONTROLS)])
            prim.CreatePointsAttr(CONTROLS)
            # The library counts the ends of pinned curves as if they were not pinned.
            size = len(CONTROLS) if wrap == "pinned" else prim.ComputeVaryingDataSize(Usd.TimeCode.Default())
            prim.CreateWidthsAttr([0.01 * (index + 1) for index in range(size)])
            prim.SetWidthsInterpolation("varying")
            guide = wrap == "pinned"
            if guide:
                prim.CreatePurposeAttr("guide")
            tip = 0.01 * size
            strands.append({"basis": basis, "wrap": wrap, "guide": guide, "tip": tip, "points": curve(basis, wrap)})
    stage.Save()
    if not UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(path), str(folder / "curves.usdz")):
        sys.exit("no package was made")
    print(json.dumps(strands))


main()
