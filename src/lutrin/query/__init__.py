"""What a reader asks, understood once: `understand` makes the `Query` that every later stage reads."""
