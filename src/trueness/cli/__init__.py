"""The command line: verbs that read, call, write."""
