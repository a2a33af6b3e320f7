"""What to do about a reading: withhold, choose."""
