"""Data pipes: data sets made of small steps, each of which takes the samples of another.

datapipe.py       IterDataPipe and MapDataPipe, from which steps derive
_decorator.py     a step as a method of all others: `functional_datapipe`
_hook_iterator.py one iterator at a time, errors that name the step
iter/             steps over samples that come one after the other
map/              steps over samples with an index
utils/            files, decoding
"""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
