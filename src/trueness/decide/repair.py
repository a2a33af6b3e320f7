"""What one intervention did to a partition of answers, in one word.

The rule itself is counting, stands in `trueness.stats.repair`, and is offered here by its old name.
"""

from trueness.stats.repair import RepairVerdict, outcome_moves, repair_verdict

__all__ = ["RepairVerdict", "outcome_moves", "repair_verdict"]
