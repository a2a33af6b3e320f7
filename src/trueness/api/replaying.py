"""Decisions of a trace derived again, beside the reading and the claims that they are about."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trueness.api.labelling import CLAIMS
from trueness.api.readings import SENSOR, is_reading, measured
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
    made = _stored(gate_file)
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
    secret = None if key is None else read_key(Path(key))
    return replayed(path, made, reading=about, key=secret)


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


def _stored(gate_file: str | Path | GateFile) -> GateFile:
    """A gate whose own faults are to be listed: a file is not checked."""
    if isinstance(gate_file, GateFile):
        return gate_file
    return read_gate(named_file(gate_file, "the gate"), checked=False)


def named_file(given: object, what: str) -> Path:
    """A path that was handed in.

    Raises
    ------
    InputError
        When it is none.
    """
    if isinstance(given, (str, os.PathLike)):
        return Path(given)
    msg = f"{what} is a {type(given).__name__}; name the file."
    raise InputError(msg)
