"""Second derivatives: Hessian-vector products, Newton steps, Jacobians by rows and by torch.autograd.functional."""

import torch
from torch.autograd.functional import hessian, hvp, jacobian, vjp


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


x = torch.tensor([-1.0, 1.5], dtype=torch.float64, requires_grad=True)
v = torch.tensor([1.0, 0.5], dtype=torch.float64)

(grad,) = torch.autograd.grad(rosenbrock(x), x, create_graph=True)
(product,) = torch.autograd.grad(grad @ v, x)
print(torch.allclose(product, hvp(rosenbrock, x, v)[1]))

H = hessian(rosenbrock, x)
print(H, torch.allclose(H @ v, product))

for step in range(3):
    loss = rosenbrock(x)
    g = torch.autograd.grad(loss, x, create_graph=True)[0]
    rows = [torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(2)]
    newton = torch.linalg.solve(torch.stack(rows), g.detach())
    with torch.no_grad():
        x -= newton
print(torch.allclose(x, torch.ones(2, dtype=torch.float64), atol=0.1))


def polar(p):
    r, theta = p[0], p[1]
    return torch.stack([r * torch.cos(theta), r * torch.sin(theta)])


point = torch.tensor([2.0, 0.3])
J = jacobian(polar, point)
print(torch.allclose(torch.linalg.det(J), point[0]), torch.det(J) > 0)
value, pulled = vjp(polar, point, torch.tensor([1.0, 0.0]))
print(torch.allclose(pulled, J[0]), torch.inverse(J).shape)

w = torch.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)
L = torch.linalg.cholesky(w @ w.T)
logdet = 2 * L.diagonal().log().sum()
logdet.backward()
print(torch.allclose(w.grad, 2 * torch.linalg.inv(w).T, atol=1e-5))
