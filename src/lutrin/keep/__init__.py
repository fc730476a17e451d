"""Backups, archives, bundles and model files: what lasts or travels."""
