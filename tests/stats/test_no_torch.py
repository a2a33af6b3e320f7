"""The algebra needs numpy and scipy, and nothing that runs a model."""

import subprocess
import sys

_CODE = """
import pkgutil, sys
from importlib import import_module
import trueness.stats
for found in pkgutil.iter_modules(trueness.stats.__path__):
    import_module("trueness.stats." + found.name)
print(sorted({"torch", "transformers", "sklearn", "xllamacpp", "duckdb"} & set(sys.modules)))
"""


def test_every_module_of_stats_loads_without_torch() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
