"""A task that runs in a thread: its events as they come, its result, and a way to stop it."""

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event as Flag
from threading import Thread
from typing import Generic, TypeVar, final

from likely.errors import InvalidInput
from likely.output.progress import Event, listening, stopped_by

T = TypeVar("T")


@final
class Running(Generic[T]):
    """A task at work; iterate over it for its events, until it ends.

    Attributes
    ----------
    cancelled : bool
        Whether it was asked to stop.
    done : bool
        Whether it has ended.
    """

    def __init__(self, task: Callable[[], T]) -> None:
        self._task, self._stop = task, Flag()
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name="likely-task", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with listening(self._events.put), stopped_by(self._stop):
                self._found.append(self._task())
        except BaseException as error:
            self._error = error
        finally:
            self._events.put(None)

    def __iter__(self) -> Iterator[Event]:
        """The events, each once; ends with the task."""
        while (event := self._events.get()) is not None:
            yield event
        self._events.put(None)  # a second loop ends at once

    @property
    def cancelled(self) -> bool:
        return self._stop.is_set()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Stop the task at its next step; what it has kept, as the trials of a study, stays."""
        self._stop.set()

    def result(self, timeout: float | None = None) -> T:
        """What the task returns, once it has ended; its error is raised here.

        A task that was cancelled raises KeyboardInterrupt, as after Ctrl-C.
        """
        self._thread.join(timeout)
        if not self.done:
            raise TimeoutError(f"The task has not ended within {timeout} s. Wait, or cancel it.")
        if self._error is not None:
            raise self._error
        return self._found[0]


def start(task: Callable[[], T]) -> Running[T]:
    """Run a task in a thread.

    Parameters
    ----------
    task : callable without arguments
        Such as ``lambda: likely.compare("churn.csv", "churned")``.

    Returns
    -------
    Running
    """
    if not callable(task):
        raise InvalidInput(
            f"{type(task).__name__} was given; a function without arguments was expected. Write "
            "start(lambda: likely.train(...)), so that it runs in the thread."
        )
    return Running(task)
