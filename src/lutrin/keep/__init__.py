"""Backups, archives, bundles and model files."""
