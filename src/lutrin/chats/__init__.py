"""Conversations, encrypted at rest."""
