"""What fits the ports; each vendor package is imported in its own module here."""
