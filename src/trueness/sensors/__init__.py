"""Pure functions from a table to a reading; found by name."""

from importlib import import_module
from typing import Any

from trueness.contract.errors import InputError

SENSORS = {
    "atlas": "trueness.sensors.atlas",
    "contrast": "trueness.sensors.contrast",
    "energy": "trueness.sensors.energy",
    "energy.affine": "trueness.sensors.energy.variants:AFFINE",
    "energy.cone": "trueness.sensors.energy.variants:CONE",
    "energy.corpus": "trueness.sensors.energy.variants:CORPUS",
    "energy.hull": "trueness.sensors.energy.variants:HULL",
    "energy.kernel": "trueness.sensors.energy.variants:KERNEL",
    "energy.ridge": "trueness.sensors.energy.variants:RIDGE",
    "energy.sigma": "trueness.sensors.energy.variants:SIGMA",
    "energy.weighted": "trueness.sensors.energy.variants:WEIGHTED",
    "energy.whitened": "trueness.sensors.energy.variants:WHITENED",
    "baseline.best_sin2": "trueness.sensors.baselines:BEST_SIN2",
    "baseline.centroid": "trueness.sensors.baselines:CENTROID",
    "baseline.length": "trueness.sensors.baselines:LENGTH",
    "baseline.mean_cosine": "trueness.sensors.baselines:MEAN_COSINE",
    "baseline.top1": "trueness.sensors.baselines:TOP1",
    "baseline.word_overlap": "trueness.sensors.baselines:WORD_OVERLAP",
    "baseline.entropy": "trueness.sensors.one_pass:ENTROPY",
    "baseline.mahalanobis": "trueness.sensors.one_pass:MAHALANOBIS",
    "baseline.margin": "trueness.sensors.one_pass:MARGIN",
    "baseline.max_p": "trueness.sensors.one_pass:MAX_P",
    "baseline.pca_residual": "trueness.sensors.one_pass:PCA_RESIDUAL",
    "baseline.renyi2": "trueness.sensors.one_pass:RENYI2",
    "baseline.varentropy": "trueness.sensors.one_pass:VARENTROPY",
    "baseline.varentropy_escort2": "trueness.sensors.one_pass:VARENTROPY_ESCORT2",
    "orbits": "trueness.sensors.orbits",
}
"""From a sensor's name to what offers CONTRACT, Params and measure: a module, or an
`Instrument` of one after a colon."""


def find(name: str) -> Any:
    """What offers a sensor's CONTRACT, Params and measure: a module or an `Instrument`.

    Raises
    ------
    InputError
        When there is none of that name; lists those there are.
    """
    if name not in SENSORS:
        msg = f"no sensor called {name!r}. Choose one of: {', '.join(sorted(SENSORS))}."
        raise InputError(msg)
    module, _, member = SENSORS[name].partition(":")
    found = import_module(module)
    return getattr(found, member) if member else found
