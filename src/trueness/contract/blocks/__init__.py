"""What a page can draw. A sensor fills blocks; a report draws them and computes nothing.

Every block is frozen, holds plain JSON types, and is bounded: a sensor cuts long lists and says
how many entries were left out.
"""

from trueness.contract.blocks.charts import Arrow as Arrow
from trueness.contract.blocks.charts import Bar as Bar
from trueness.contract.blocks.charts import Bars as Bars
from trueness.contract.blocks.charts import Curve as Curve
from trueness.contract.blocks.charts import Dot as Dot
from trueness.contract.blocks.charts import IntervalDots as IntervalDots
from trueness.contract.blocks.charts import Part as Part
from trueness.contract.blocks.charts import Point3 as Point3
from trueness.contract.blocks.charts import Series as Series
from trueness.contract.blocks.charts import SimplexArrows as SimplexArrows
from trueness.contract.blocks.marked import MarkedText as MarkedText
from trueness.contract.blocks.marked import MarkedTexts as MarkedTexts
from trueness.contract.blocks.marked import Stretch as Stretch
from trueness.contract.blocks.tables import Cell as Cell
from trueness.contract.blocks.tables import ClauseRow as ClauseRow
from trueness.contract.blocks.tables import Clauses as Clauses
from trueness.contract.blocks.tables import Fact as Fact
from trueness.contract.blocks.tables import Facts as Facts
from trueness.contract.blocks.tables import Strip as Strip
from trueness.contract.blocks.tables import Table as Table
from trueness.contract.blocks.words import Chip as Chip
from trueness.contract.blocks.words import Group as Group
from trueness.contract.blocks.words import Groups as Groups
from trueness.contract.blocks.words import Notes as Notes
from trueness.contract.blocks.words import Statement as Statement

Block = (
    Statement
    | Groups
    | Bars
    | IntervalDots
    | SimplexArrows
    | Curve
    | Clauses
    | Table
    | MarkedTexts
    | Facts
    | Notes
)
