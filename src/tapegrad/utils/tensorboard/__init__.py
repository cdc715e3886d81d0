"""Files that TensorBoard shows: `SummaryWriter`. Needs the package tensorboard (an extra)."""

from tapegrad.core.errors import advised as _advised

try:
    import tensorboard as _tensorboard
except ModuleNotFoundError as _error:
    if _error.name != "tensorboard":
        raise
    raise _advised(_error, 'Install it with: pip install "tapegrad[tensorboard]"') from None

from tensorboard.summary.writer.record_writer import RecordWriter

from tapegrad.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
