"""Which module carries which study out: the one place that knows them."""

from importlib import import_module
from typing import Protocol

from trueness.study.found import Found
from trueness.study.task import Task

RUNNERS = {
    "C1": "trueness.study.controls",
    "C2": "trueness.study.controls",
    "C3": "trueness.study.controls",
    "C4": "trueness.study.controls",
    "C5": "trueness.study.controls",
    "C6": "trueness.study.controls",
    "C8": "trueness.study.controls",
    "C11": "trueness.study.controls",
    "C12": "trueness.study.controls",
    "C14": "trueness.study.controls",
    "C20": "trueness.study.controls",
    "C10": "trueness.study.searching",
    "C13": "trueness.study.binding",
    "C15": "trueness.study.retrieval_drift",
    "C16": "trueness.study.calibration_methods",
    "C17": "trueness.study.label_order",
    "C18": "trueness.study.clean_labels",
    "C19": "trueness.study.short_sentences",
    "C7": "trueness.study.transfer",
    "C9": "trueness.study.copies",
    "answer-presence": "trueness.study.answer_presence",
    "atlas-intervals": "trueness.study.intervals",
    "answer-normalisation": "trueness.study.normalisation",
    "calibration-proof": "trueness.study.proof",
    "coupling": "trueness.study.couplings",
    "detector": "trueness.study.detector",
    "detector-power": "trueness.study.detector_power",
    "contrast": "trueness.study.bindings_changed",
    "certificate-sweep": "trueness.study.sweep",
    "checkpoint-atlas": "trueness.study.checkpoint_atlas",
    "choose-objective": "trueness.study.objectives",
    "constrained-decoding": "trueness.study.constrained",
    "dimension-pruning": "trueness.study.dimension_pruning",
    "embedding-noise": "trueness.study.noise",
    "ensembles": "trueness.study.ensembles",
    "exponents": "trueness.study.exponents",
    "injectivity-audit": "trueness.study.injectivity",
    "jacobian-cost": "trueness.study.jacobian_cost",
    "lift-rank": "trueness.study.lifting",
    "observable-choice": "trueness.study.observables",
    "observer-flat": "trueness.study.observer_flat",
    "prefix-character": "trueness.study.prefix_character",
    "prefix-length": "trueness.study.prefix_length",
    "prefix-repair": "trueness.study.prefix_repair",
    "recoverability": "trueness.study.recovering",
    "system-prompts": "trueness.study.prompts",
    "width-frame": "trueness.study.width_frame",
    "templates-join": "trueness.study.joining",
}
"""The id of a study, and the module whose ``run`` carries it out."""


class Runner(Protocol):
    """What carries a study out."""

    def __call__(self, task: Task) -> Found:
        """Rows and contrasts of one run."""
        ...


def runner_of(name: str) -> Runner:
    """The runner of a declared study, loaded when it is wanted."""
    found: Runner = import_module(RUNNERS[name]).run
    return found
