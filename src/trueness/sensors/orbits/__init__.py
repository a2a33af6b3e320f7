"""Certified errors without a key."""
