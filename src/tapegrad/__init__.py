from tapegrad.tensor import Tensor
