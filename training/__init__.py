"""How the reader model is made: data, training, export. Nothing here is part of the wheel."""
