"""Where bounds are kept: in the `cache` on disk, under a digest of the public things that they are for."""

import hashlib
import io
from collections.abc import Callable
from dataclasses import fields
from zipfile import BadZipFile

import numpy as np

import geotracs.core.cache as cache
from geotracs.core.optimum.bound import Optimum
from geotracs.core.optimum.cells import Cells
from geotracs.core.optimum.constraints import Tiles
from geotracs.core.optimum.metric import Plane, Sphere

CELLS = [field.name for field in fields(Cells)]
FORMAT = 2
"""Grows when a bound is found in another way."""


def kept(question: tuple[object, ...], find: Callable[[], Optimum]) -> Optimum:
    """Return the bound that answers a question: from disk, or found and kept there.

    Parameters
    ----------
    question : tuple
        Public things with a repr that says all of them.
    find : callable
        Finds the bound.
    """
    name = "optimum-" + hashlib.sha256(repr((FORMAT, *question)).encode()).hexdigest()
    content = cache.read(name)
    known = None if content is None else unpack(content)
    if known is not None:
        return known
    found = find()
    cache.write(name, pack(found))
    return found


def pack(found: Optimum) -> bytes:
    """Return a bound as bytes."""
    file = io.BytesIO()
    np.savez_compressed(
        file,
        numbers=[found.error, found.eps, float(found.metric.flat), float(found.pieces)],
        prices=found.prices,
        parts=found.parts,
        **{f"cells_{name}": getattr(found.cells, name) for name in CELLS},
        middles=found.tiles.middles,
        halves=found.tiles.halves,
    )
    return file.getvalue()


def unpack(content: bytes) -> Optimum | None:
    """Return the bound that `pack` made into bytes; None if they are anything else.

    >>> unpack(b"something") is None
    True
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            error, eps, flat, count = (float(number) for number in file["numbers"])
            cells = Cells(**{name: file[f"cells_{name}"] for name in CELLS})
            tiles = Tiles(file["middles"], file["halves"])
            metric = Plane() if flat else Sphere()
            return Optimum(error, file["prices"], cells, int(count), file["parts"], tiles, eps, metric)
    except (ValueError, KeyError, OSError, BadZipFile):
        return None
