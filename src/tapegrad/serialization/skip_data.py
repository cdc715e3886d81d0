"""`skip_data`: a block in which `save` leaves out what tensors hold."""

from contextvars import ContextVar, Token

from tapegrad.core.errors import not_implemented

SKIPPED: ContextVar[bool] = ContextVar("tapegrad_skip_data", default=False)
"""Whether `save` writes zeros in the place of elements."""


class skip_data:
    """A block in which `save` writes files with room for the elements of tensors, which is zeros.

    What another program fills in later, or measures.

    Raises:
        NotImplementedError: `materialize_fake_tensors`, of which tapegrad has none

    >>> import io
    >>> file = io.BytesIO()
    >>> with torch.serialization.skip_data():
    ...     torch.save(torch.ones(2), file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors: bool = False):
        if materialize_fake_tensors:
            raise not_implemented(
                "skip_data(materialize_fake_tensors=True) is not supported in tapegrad",
                "There are no fake tensors here: save tensors.",
            )
        self.materialize_fake_tensors = materialize_fake_tensors
        self._tokens: list[Token] = []

    def __enter__(self) -> None:
        self._tokens.append(SKIPPED.set(True))

    def __exit__(self, *error: object) -> None:
        SKIPPED.reset(self._tokens.pop())
