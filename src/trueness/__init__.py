"""Tell how often answers agree from how often they are right."""
