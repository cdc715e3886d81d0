"""How tensors go to another process: as the descriptor of their memory, and their place in it."""

from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

import numpy as np

from tapegrad.autograd.node import make_leaf
from tapegrad.core import errors, tensor_base
from tapegrad.core.conj_neg_view import ConjNegView, memory_of, turned
from tapegrad.core.device import META
from tapegrad.core.shared_map import SharedMap, share_map
from tapegrad.core.storage import offset_of, shaped
from tapegrad.core.untyped_storage import FileMap, UntypedStorage, storage_of
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.legacy_constructor import retyped
from tapegrad.tensors.tensor import Tensor


def rebuild_storage(place: Any, n_bytes: int) -> UntypedStorage:
    """The memory behind a descriptor, or that of a file by its name; None: of the meta device."""
    if place is None:
        return UntypedStorage(n_bytes, device=META)
    if isinstance(place, str):
        return UntypedStorage.from_file(place, True, n_bytes)
    shared = share_map(n_bytes, place.detach())
    return storage_of(np.frombuffer(shared, np.uint8, n_bytes))


def reduce_storage(storage: UntypedStorage) -> tuple:
    """Memory as pickle takes it: it is moved to where another process can see it."""
    if storage.device is META:
        return rebuild_storage, (None, storage.nbytes())
    found = storage.map()
    if isinstance(found, FileMap) and found.filename and not found.private:
        return rebuild_storage, (found.filename, storage.nbytes())
    if not isinstance(found, SharedMap):
        found = storage.move_to_shared_map()
    return rebuild_storage, (DupFd(found.fd), storage.nbytes())


def rebuild_tensor(
    is_parameter: bool, storage: UntypedStorage, dtype: str, place: tuple, requires_grad: bool
) -> Any:
    """The tensor that `reduce_tensor` took apart, in the same memory, without its attributes."""
    offset, shape, strides, conj, neg = place
    array = shaped(storage.elements(np.dtype(dtype)), offset, shape, strides)
    found = tensor_base.wrap(turned(array, conj, neg) if conj or neg else array)
    if is_parameter:
        found = retyped(found, Parameter)
    if requires_grad:
        make_leaf(found)
    return found


def reduce_tensor(x: Any) -> tuple:
    """A tensor as pickle takes it on the way to another process.

    Raises: RuntimeError for what has a history: that stays in its process.
    """
    if x.requires_grad and not x.is_leaf:
        raise errors.runtime_error(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the "
            "data, call detach() on the tensor before serializing (e.g., putting it on the queue).",
            "What goes to another process has no history: send x.detach().",
        )
    read = x._array
    array = memory_of(read)
    flags = (read.conj, read.neg) if type(read) is ConjNegView else (False, False)
    strides = tuple(step // array.itemsize for step in array.strides)
    place = (offset_of(array), array.shape, strides, *flags)
    is_parameter = isinstance(x, Parameter)
    parts = (is_parameter, x.untyped_storage(), array.dtype.name, place, x.requires_grad)
    return rebuild_tensor, parts


def init_reductions() -> None:
    """Let Python's queues and pipes send tensors so."""
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(Tensor, reduce_tensor)
    ForkingPickler.register(Parameter, reduce_tensor)
