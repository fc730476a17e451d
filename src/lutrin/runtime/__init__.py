"""Settings become adapters, and adapters become stages: the only room that knows profiles."""
