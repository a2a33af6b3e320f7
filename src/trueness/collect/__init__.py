"""Run a protocol and write what was observed; nothing is lost, nothing is measured."""
