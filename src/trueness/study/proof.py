"""The simulated promise of a threshold, as a study with a result."""

from trueness.contract.serial import Json
from trueness.study.calibration_proof import ProofRow, calibration_proof
from trueness.study.found import Found
from trueness.study.task import Task

_FAIL = "fail"


def run(task: Task) -> Found:
    """The proof with so many calibrations of each cell; parameters as for every study."""
    task.only()
    proof = calibration_proof(seed=task.seed, calibrations=task.repeats, progress=task.progress)
    failing = [row for row in proof.rows if row.must == _FAIL]
    holding = [row for row in proof.rows if row.must != _FAIL]
    return Found(
        rows=tuple({"name": _name(row), **row.to_dict()} for row in proof.rows),
        contrasts={"promise": _contrast(holding), "procedures_that_fail": _contrast(failing)},
        draws={"repeats": task.repeats},
    )


def _contrast(rows: list[ProofRow]) -> dict[str, Json]:
    where = [_name(row) for row in rows if not row.shown]
    return {"n": len(rows), "beyond": len(where), "open": 0, "where": list[Json](where)}


def _name(row: ProofRow) -> str:
    """Words and numbers that tell a cell from all others, without dots."""
    words = f"{row.rule} {row.values} {row.n} budget {row.budget} delta {row.delta}"
    kept = "".join(c if c.isalnum() else " " for c in words)
    return "_".join(kept.split())
