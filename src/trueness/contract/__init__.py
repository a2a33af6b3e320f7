"""The nouns everybody shares: frozen data, standard library only.

`Contract` says what a sensor promises, `State` what a number is worth, `Reading` what was seen,
`Decision` what is done about it; blocks are what a page can draw. Nothing here computes.
"""

from trueness.contract.decision import Decision as Decision
from trueness.contract.decision import ItemVerdict as ItemVerdict
from trueness.contract.decision import Verdict as Verdict
from trueness.contract.reading import Flagged as Flagged
from trueness.contract.reading import ItemReading as ItemReading
from trueness.contract.reading import Reading as Reading
from trueness.contract.rows import Rows as Rows
from trueness.contract.sensor import Contract as Contract
from trueness.contract.states import Direction as Direction
from trueness.contract.states import State as State
from trueness.contract.states import Status as Status
