"""Models and embedders behind an OpenAI-compatible server."""
