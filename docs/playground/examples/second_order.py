import tapegrad as torch
from tapegrad.inspect import graph

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
print("slope", slope)  # 3 x^2

(curvature,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
print("curvature", curvature)  # 6 x

hessian = torch.func.hessian(lambda x: (x**3).sum())(x.detach())
print(hessian)
graph(curvature.sum(), title="the curvature").show()
