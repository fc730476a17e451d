"""Turn settings into adapters and adapters into stages; the only room that knows profiles."""
