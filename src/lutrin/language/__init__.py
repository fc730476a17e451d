"""English as data: its words, their stems and spellings."""
