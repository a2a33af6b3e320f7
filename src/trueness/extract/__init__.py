"""Text to canonical answer keys, versioned. Never sees the gold of an item."""
