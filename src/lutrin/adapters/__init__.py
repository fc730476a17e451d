"""Vendor packages behind the ports, each imported in one module."""
