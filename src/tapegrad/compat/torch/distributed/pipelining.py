"""Models spread over ranks layer by layer, by name."""

from tapegrad.compat.torch.distributed.refusal import refusing
from tapegrad.core.missing import refuses as _refuses

for _name in """
    Pipe PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B SplitPoint build_stage
    pipe_split pipeline
""".split():
    globals()[_name] = refusing(f"pipelining.{_name}", "With one rank a model runs as it is.")

__getattr__ = _refuses(__name__)
