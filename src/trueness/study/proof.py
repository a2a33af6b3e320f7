"""The simulated promise of a threshold, as a study with a result."""

from collections.abc import Callable

from trueness.contract.serial import Json
from trueness.study.calibration_proof import ProofRow, calibration_proof
from trueness.study.declarations import Declaration
from trueness.study.found import Found
from trueness.study.inputs import Inputs

_FAIL = "fail"


def run(
    declaration: Declaration,
    *,
    inputs: Inputs,
    seed: int,
    repeats: int,
    progress: Callable[[str], None] | None = None,
) -> Found:
    """The proof with so many calibrations of each cell; parameters as for every study."""
    inputs.only(declaration.id)
    proof = calibration_proof(seed=seed, calibrations=repeats, progress=progress)
    failing = [row for row in proof.rows if row.must == _FAIL]
    holding = [row for row in proof.rows if row.must != _FAIL]
    return Found(
        rows=tuple({"name": _name(row), **row.to_dict()} for row in proof.rows),
        contrasts={"promise": _contrast(holding), "procedures_that_fail": _contrast(failing)},
        draws={"repeats": repeats},
    )


def _contrast(rows: list[ProofRow]) -> dict[str, Json]:
    where = [_name(row) for row in rows if not row.shown]
    return {"n": len(rows), "beyond": len(where), "open": 0, "where": list[Json](where)}


def _name(row: ProofRow) -> str:
    """Words and numbers that tell a cell from all others, without dots."""
    words = f"{row.rule} {row.values} {row.n} budget {row.budget} delta {row.delta}"
    kept = "".join(c if c.isalnum() else " " for c in words)
    return "_".join(kept.split())
