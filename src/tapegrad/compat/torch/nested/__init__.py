"""`torch.nested` by name: the rows of a tensor are all of one length here."""

from tapegrad.compat.refusal import refusing as _refusing

__getattr__ = _refusing(
    __name__,
    "tapegrad has no nested tensors: pad them (torch.nn.utils.rnn.pad_sequence) and give a mask.",
    functions=(
        "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged "
        "to_padded_tensor"
    ),
)
