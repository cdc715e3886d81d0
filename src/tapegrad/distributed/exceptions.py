"""Errors of `torch.distributed`."""


class DistError(RuntimeError):
    """An error of the distributed library."""


class DistBackendError(DistError):
    """A collective failed in the library that moves the numbers."""


class DistNetworkError(DistError):
    """A connection failed."""


class DistStoreError(DistError):
    """A store failed, or a key did not come in time."""


class QueueEmptyError(DistStoreError):
    """A queue of a store has nothing to pop."""


for _error in (DistError, DistBackendError, DistNetworkError, DistStoreError, QueueEmptyError):
    _error.__module__ = __name__.rpartition(".")[0]
