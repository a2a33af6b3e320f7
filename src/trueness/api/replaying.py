"""Decisions of a trace derived again, beside the reading and the claims that they are about."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trueness.api.labelling import CLAIMS
from trueness.api.means import SENSOR
from trueness.api.readings import is_reading, measured
from trueness.api.routing import flags_of
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.decide.problems import Replayed
from trueness.decide.retracing import replay as replayed
from trueness.decide.routes import routed
from trueness.decide.stored import GateFile, read_gate
from trueness.decide.trace import read_key


def replay(
    trace: str | Path,
    gate_file: str | Path | GateFile,
    *,
    reading: object = None,
    key: str | Path | None = None,
    claims: object = None,
    kind: str | None = None,
    relation_check: str | None = None,
    **given: Any,
) -> Replayed:
    """Every decision of a trace derived again, and what does not fit.

    Parameters
    ----------
    trace : path
    gate_file : path or GateFile
    reading : path, data frame, list of dicts, table or Reading, optional
        What was decided about, to compare values with; a table is measured again.
    key : path, optional
        File with the secret that signed the trace.
    claims : path, data frame, list of dicts or table, optional
        The claims, where a column of kinds sent some of them to review.
    kind, relation_check : str, optional
        As `gate` was given them.
    **given
        As `gate` was given them: ``claim``, ``evidence``, ``item`` … of the claims, and where
        ``reading`` is a table all of what `trueness.api.ground` takes.

    Raises
    ------
    InputError
        When a column of kinds is named without a table and a reading, or a table without one.
    """
    made = opened(gate_file, checked=False)
    path = named_file(trace, "the trace")
    sensor = made.sensor or SENSOR
    about = _about(reading, claims, sensor, given)
    if kind is not None or relation_check is not None:
        if about is None or claims is None:
            msg = "kinds are compared with a reading and read from a table; give both of them."
            raise InputError(msg)
        routes = flags_of(
            claims, sensor=sensor, kind=kind, relation_check=relation_check, given=given
        )
        about = routed(about, routes.flags)
    elif claims is not None:
        msg = "claims are given and no column of kinds, for which alone they are read; name it."
        raise InputError(msg)
    return replayed(path, made, reading=about, key=secret_of(key))


def _about(
    reading: object, claims: object, sensor: str, given: Mapping[str, Any]
) -> Reading | None:
    """What was decided about; names of columns belong to the claims where there are some."""
    named = {k: v for k, v in given.items() if v is not None}
    if reading is None:
        if named and claims is None:
            msg = f"{next(iter(named))} is given, and no table is read. Leave it out."
            raise InputError(msg)
        return None
    if is_reading(reading) and claims is not None:
        named = {k: v for k, v in named.items() if k not in CLAIMS}
    return measured(reading, sensor=sensor, **named)


def opened(gate_file: str | Path | GateFile, *, checked: bool = True) -> GateFile:
    """A gate in hand, or that of a file; unchecked where its own faults are to be listed.

    Raises
    ------
    InputError
        When it is neither, or the file is no gate that can be used.
    """
    if isinstance(gate_file, GateFile):
        return gate_file
    wanted = "hand in what calibrate returned, or the file that it wrote"
    return read_gate(named_file(gate_file, "the gate", wanted=wanted), checked=checked)


def secret_of(key: str | Path | None) -> bytes | None:
    """The secret in a file that was named; None where none was.

    Raises
    ------
    InputError
        When it is no path, or cannot be read, or is empty.
    """
    return None if key is None else read_key(named_file(key, "the key"))


def named_file(given: object, what: str, *, wanted: str = "name the file") -> Path:
    """A path that was handed in.

    Raises
    ------
    InputError
        When it is none; ``what`` is named and ``wanted`` asked for.
    """
    if isinstance(given, (str, os.PathLike)):
        return Path(given)
    msg = f"{what} is a {type(given).__name__}; {wanted}."
    raise InputError(msg)
