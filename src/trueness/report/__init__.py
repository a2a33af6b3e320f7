"""Draw blocks: terminal, Markdown, JSON, one-file HTML, JUnit XML. Computes nothing."""
