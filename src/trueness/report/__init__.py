"""Draw blocks: terminal, Markdown, JSON, one-file HTML, JUnit XML. Computes nothing.

Every function takes readings from any sensor and knows none of them. What needs rich or jinja2 is
loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from trueness.report.checks import Check as Check
from trueness.report.checks import Outcome as Outcome
from trueness.report.files import SUFFIXES as SUFFIXES
from trueness.report.files import suffix as suffix
from trueness.report.files import write as write
from trueness.report.load import Loaded as Loaded
from trueness.report.load import load as load
from trueness.report.machine import json as json
from trueness.report.machine import json_lines as json_lines
from trueness.report.machine import junit as junit

if TYPE_CHECKING:
    from trueness.report.md import markdown as markdown
    from trueness.report.notebook import fragment as fragment
    from trueness.report.terminal import block_text as block_text
    from trueness.report.terminal import comparison as comparison
    from trueness.report.terminal import decision_text as decision_text
    from trueness.report.terminal import text as text
    from trueness.report.web import page as page

_LAZY = {
    "text": "terminal",
    "block_text": "terminal",
    "comparison": "terminal",
    "decision_text": "terminal",
    "markdown": "md",
    "page": "web",
    "fragment": "notebook",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
