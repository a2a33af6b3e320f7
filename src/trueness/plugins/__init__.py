"""What other tools load by entry point. Nothing here is imported by the rest of the package."""
