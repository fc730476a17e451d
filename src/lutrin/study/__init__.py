"""Prepares answers and practice material for a book before anybody asks."""
