"""Logs of other tools: one reader a tool, all of them streams of draws into one builder."""
