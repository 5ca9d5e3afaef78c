"""A property that is computed once, without a lock.

``functools.cached_property`` has, up to Python 3.11, one lock for all instances of a class.  A
process that is forked while another thread computes the property inherits the lock as held, and
waits for ever.  Here two threads may both compute the value, and all get the first that is kept.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # type checkers know that it is a property
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - as it is known
        """As ``functools.cached_property``: kept in the instance, under its own name."""

        def __init__(self, func: Callable[[Any], Any]) -> None:
            self.func = func
            self.attrname = None
            self.__doc__ = func.__doc__

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
