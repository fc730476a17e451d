"""The language that readers and books speak: the one place that chooses it.

Another language is a module like `english`, with the same names, and another line here.
"""

from lutrin.language.english import *  # noqa: F403 - every list of the chosen language, under its own name
