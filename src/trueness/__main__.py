"""``python -m trueness`` is the command ``trueness``."""

import sys

from trueness.cli import main

sys.exit(main())
