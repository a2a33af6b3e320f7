"""Minimal contradictions and harmless rewordings of a claim, by rules and word lists.

Pure and versioned: no model is called, and no key of an answer is made here.
"""
