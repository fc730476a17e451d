"""The catalogue, immutable generations, lexical search and the shelf of open books."""
