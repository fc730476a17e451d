"""The language of readers and books: its words as data, and what counts as the same word."""
