"""Understand a question once, for every later stage."""
