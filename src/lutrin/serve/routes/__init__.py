"""One module for each family of endpoints."""
