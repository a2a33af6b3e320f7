"""A reading or a decision inside a page of somebody else: a notebook's output."""

import hashlib
import re

from markupsafe import Markup

from trueness.contract import Decision, Reading
from trueness.contract.serial import dumps
from trueness.report.web import Limits, asset, decided, environment, sections, valid

_LIMITS = Limits(rows=100, items=20, text=300, readings=1)
_GLOBAL = re.compile(r"(?m)^(\s*)(?::root|html|body)(?= \{)")


def fragment(shown: Reading | Decision) -> str:
    """HTML to stand among other HTML, drawn as `trueness.report.page` draws it.

    Its style ends at its own edge, it runs no script and loads nothing; long lists and texts are
    cut, and it says where. Where a viewer takes the style away, the text stays in order.

    Parameters
    ----------
    shown : Reading or Decision

    Returns
    -------
    str
        Every text in it is escaped.
    """
    name = _name(shown)
    drawn: dict[str, object] = {"section": None, "decision": None}
    if isinstance(shown, Reading):
        drawn["section"] = next(sections({"": shown}, _LIMITS, prefix=name))
    else:
        drawn["decision"] = decided(shown, _LIMITS)
    style = Markup(_scoped())  # noqa: S704 - our own file
    template = environment().get_template("fragment.html")
    return valid(template.render(style=style, id=name, limits=_LIMITS, **drawn))


def _name(shown: Reading | Decision) -> str:
    """A name for the parts of this output, so that a page may hold several."""
    head = shown.to_dict(max_items=0) if isinstance(shown, Reading) else [shown.reason, shown.trace]
    return f"t{hashlib.sha256(dumps(head).encode('utf-8')).hexdigest()[:12]}-"


def _scoped() -> str:
    """The style of a page, for the element that holds it alone."""
    return "@scope {\n" + _GLOBAL.sub(r"\1:scope", asset("style.css")) + "}\n"
