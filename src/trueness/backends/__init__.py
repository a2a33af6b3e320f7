"""Models that answer: scripted, replayed, embedded."""
