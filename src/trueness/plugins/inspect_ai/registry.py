"""What inspect_ai's entry point loads: importing it registers every component."""

from trueness.plugins.inspect_ai import metrics, scorers  # noqa: F401 - to import is to register
