"""Opens a USD file with Pixar's library, runs every validator, and prints what is in it as JSON.

    python usd_check.py FILE [--strict] [--values]

Exits with 1 when the file does not open or a validator reports an error (`--strict`: or a warning).
`usd-core` ships no `usdchecker` command, and `UsdUtils.ComplianceChecker` is gone from it: `UsdValidation` is what
`usdchecker` runs today.
"""

import json
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, UsdValidation


def plain(value):
    """A value as JSON has it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Sdf.AssetPath):
        return value.path
    if isinstance(value, Sdf.TimeCode):
        return value.GetValue()
    if isinstance(value, (Gf.Quath, Gf.Quatf, Gf.Quatd)):
        return [*value.GetImaginary(), value.GetReal()]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value]


def count(attribute, time):
    """Number of elements of an array attribute."""
    value = attribute.Get(time)
    return len(value) if value is not None and hasattr(value, "__len__") else 1


def describe(prim, with_values):
    """The attributes of a prim, with counts and, if asked for, values."""
    attributes = {}
    for attribute in prim.GetAuthoredAttributes():
        times = attribute.GetTimeSamples()
        entry = {
            "type": str(attribute.GetTypeName()),
            "samples": len(times),
            "count": count(attribute, times[0] if times else Usd.TimeCode.Default()),
        }
        if attribute.GetMetadata("interpolation"):
            entry["interpolation"] = attribute.GetMetadata("interpolation")
        if with_values:
            entry["default"] = plain(attribute.Get())
            entry["times"] = times
            entry["values"] = [plain(attribute.Get(time)) for time in times]
        attributes[attribute.GetName()] = entry
    relationships = {r.GetName(): [str(t) for t in r.GetTargets()] for r in prim.GetAuthoredRelationships()}
    return {"path": str(prim.GetPath()), "type": str(prim.GetTypeName()), "attributes": attributes,
            "relationships": relationships}


def validate(stage):
    """What the validators say: a list of errors and one of warnings."""
    registry = UsdValidation.ValidationRegistry()
    found = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators()).Validate(stage)
    kinds = UsdValidation.ValidationErrorType
    errors = [error.GetErrorAsString() for error in found if error.GetType() == kinds.Error]
    return errors, [error.GetErrorAsString() for error in found if error.GetType() != kinds.Error]


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(names) != 1:
        sys.exit(__doc__)
    try:
        stage = Usd.Stage.Open(names[0])
    except Exception as error:  # Pixar's library raises its own kind
        print(json.dumps({"file": names[0], "errors": [str(error)]}))
        sys.exit(1)
    errors, warnings = validate(stage)
    prims = [describe(prim, "--values" in sys.argv) for prim in stage.TraverseAll()]
    print(json.dumps({
        "file": names[0],
        "upAxis": str(UsdGeom.GetStageUpAxis(stage)),
        "metersPerUnit": UsdGeom.GetStageMetersPerUnit(stage),
        "timeCodesPerSecond": stage.GetTimeCodesPerSecond(),
        "start": stage.GetStartTimeCode(),
        "end": stage.GetEndTimeCode(),
        "prims": prims,
        "errors": errors,
        "warnings": warnings,
    }))
    sys.exit(1 if errors or ("--strict" in sys.argv and warnings) else 0)


if __name__ == "__main__":
    main()
