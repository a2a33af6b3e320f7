"""The verbs as Python functions: read, key, measure."""
