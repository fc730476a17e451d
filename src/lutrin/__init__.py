"""Lutrin: a textbook that answers, offline."""

__version__ = "0.1.0"
