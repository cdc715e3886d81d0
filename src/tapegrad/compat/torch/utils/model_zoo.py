"""`torch.utils.model_zoo`: the older name of `torch.hub` for files of weights."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.hub import load_state_dict_from_url as load_url
from tapegrad.hub import tqdm

__all__ = ["load_url", "tqdm"]

__getattr__ = _refuses(__name__)
