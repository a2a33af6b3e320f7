"""Arrays to arrays: no tables, no text, no global random state."""
