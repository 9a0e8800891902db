"""Prints what archives hold, as Alembic's own library reads them, one line of JSON for each.

    python alembic_dump.py FILE…
"""

import json
import sys

from alembic3d import Abc, AbcGeom


def plain(value):
    if isinstance(value, (bool, int, float, str)):
        return value
    try:
        return [plain(part) for part in value]
    except TypeError:
        return str(value)


def at(time):
    return Abc.ISampleSelector(float(time))


def samples(prop):
    return [plain(prop.getValue(at(time))) for time in times(prop)]


def params(compound):
    found = {}
    if not compound.valid():
        return found
    for header in compound.propertyheaders:
        if header.isCompound():
            continue
        kind = Abc.IScalarProperty if header.isScalar() else Abc.IArrayProperty
        prop = kind(compound, header.getName())
        meta = header.getMetaData()
        found[header.getName()] = {
            "pod": str(header.getDataType().getPod()),
            "extent": header.getDataType().getExtent(),
            "scope": meta.get("geoScope"),
            "interpretation": meta.get("interpretation"),
            "param": meta.get("isGeomParam"),
            "values": plain(prop.getValue(at(0))),
        }
    return found


def times(schema):
    sampling = schema.getTimeSampling()
    return [sampling.getSampleTime(index) for index in range(schema.getNumSamples())]


def box(bounds):
    return [plain(bounds.min()), plain(bounds.max())]


def curves(schema):
    positions = schema.getPositionsProperty()
    first = schema.getValue(at(0))
    widths = schema.getWidthsParam()
    velocities = schema.getVelocitiesProperty()
    return {
        "times": times(schema),
        "positions": samples(positions),
        "counts": plain(first.getCurvesNumVertices()),
        "type": str(first.getType()),
        "wrap": str(first.getWrap()),
        "bounds": box(first.getSelfBounds()),
        "widths": plain(widths.getExpandedValue().getVals()) if widths.valid() else None,
        "width_scope": str(widths.getScope()) if widths.valid() else None,
        "velocities": samples(velocities) if velocities.valid() else None,
        "params": params(schema.getArbGeomParams()),
    }


def mesh(schema):
    first = schema.getValue(at(0))
    return {
        "times": times(schema),
        "positions": samples(schema.getPositionsProperty()),
        "indices": plain(first.getFaceIndices()),
        "counts": plain(first.getFaceCounts()),
        "params": params(schema.getArbGeomParams()),
    }


def xform(schema):
    values = [schema.getValue(at(time)) for time in times(schema)]
    return {
        "times": times(schema),
        "matrices": [plain(value.getMatrix()) for value in values],
        "inherits": [value.getInheritsXforms() for value in values],
        "user": params(schema.getUserProperties()),
    }


SCHEMAS = [(AbcGeom.ICurves, "curves", curves), (AbcGeom.IPolyMesh, "mesh", mesh), (AbcGeom.IXform, "xform", xform)]


def describe(parent, found):
    for index in range(parent.getNumChildren()):
        header = parent.getChildHeader(index)
        for kind, name, read in SCHEMAS:
            if kind.matches(header.getMetaData()):
                entry = read(kind(parent, header.getName()).getSchema())
                found.append({"path": header.getFullName(), "kind": name} | entry)
        describe(parent.getChild(index), found)


def dump(name):
    archive = Abc.IArchive(name)
    found = []
    describe(archive.getTop(), found)
    print(json.dumps({"objects": found}))


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        dump(argument)
