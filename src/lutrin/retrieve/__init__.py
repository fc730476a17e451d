"""From a question to passages, and the decision whether the book speaks of it at all.

The package has the name of a function that Lutrin offers to programs, `lutrin.retrieve(query)`; so it can be called.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that is called like `lutrin.api.retrieve`."""

    def __call__(self, query: str, **options: Any) -> Any:  # noqa: ANN401 - what `lutrin.api.retrieve` takes and gives
        # By name, at the call: the stages know nothing of what is built on top of them.
        return import_module("lutrin.api").retrieve(query, **options)


sys.modules[__name__].__class__ = _Callable
