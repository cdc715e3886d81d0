# Written by `python -m tools.stubs`.

from tapegrad.optim.adadelta import Adadelta as Adadelta
from tapegrad.optim.adafactor import Adafactor as Adafactor
from tapegrad.optim.adagrad import Adagrad as Adagrad
from tapegrad.optim.adam import Adam as Adam
from tapegrad.optim.adamax import Adamax as Adamax
from tapegrad.optim.adamw import AdamW as AdamW
from tapegrad.optim.asgd import ASGD as ASGD
from tapegrad.optim.lbfgs import LBFGS as LBFGS
from tapegrad.optim.muon import Muon as Muon
from tapegrad.optim.nadam import NAdam as NAdam
from tapegrad.optim.optimizer import Optimizer as Optimizer
from tapegrad.optim.radam import RAdam as RAdam
from tapegrad.optim.rmsprop import RMSprop as RMSprop
from tapegrad.optim.rprop import Rprop as Rprop
from tapegrad.optim.sgd import SGD as SGD
from tapegrad.optim.sparse_adam import SparseAdam as SparseAdam

from . import lr_scheduler as lr_scheduler
from . import swa_utils as swa_utils
