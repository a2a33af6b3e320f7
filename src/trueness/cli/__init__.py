"""The command line: verbs that read, call, write.

Exit codes: 0 done, a silent certificate included; 1 an assertion failed; 2 usage, input or a file
that cannot be read or written; 3 a defect of ours; 5 nothing could be measured; 130 interrupted.
"""

from trueness.cli.app import main as main
