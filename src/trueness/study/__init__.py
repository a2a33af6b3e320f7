"""Whole experiments: they ask, measure and decide; they hold no mathematics of their own."""
