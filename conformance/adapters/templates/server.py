"""NAME behind the stdio protocol (docs/protocol.md), on the standard library; replace the engine by yours.

autograd-conformance grade 'stdio:python NAME.py'
"""

import json
import sys


class Value:
    def __init__(self, data, parents=()):
        self.data, self.parents, self.grad = data, parents, None  # parents with their local derivatives

    def backward(self):
        order, seen = [], set()

        def visit(v):
            if v not in seen:
                seen.add(v)
                [visit(parent) for parent, _ in v.parents]
                order.append(v)

        visit(self)
        upstream = {self: 1.0}
        for v in reversed(order):
            if not v.parents:
                v.grad = (v.grad or 0.0) + upstream[v]
            for parent, local in v.parents:
                upstream[parent] = upstream.get(parent, 0.0) + upstream[v] * local


def tensor(data, requires_grad=False, **_):
    if not requires_grad or not isinstance(data, (int, float)):
        raise NotImplementedError("leaves are numbers that require grad")
    return Value(float(data))


OPS = {"torch.tensor": tensor, "backward": Value.backward,
       "add": lambda x, y: Value(x.data + y.data, ((x, 1.0), (y, 1.0))),
       "mul": lambda x, y: Value(x.data * y.data, ((x, y.data), (y, x.data)))}  # fmt: skip
CAPABILITIES = {"ops": ["torch.tensor", "add()", "mul()", "backward()"], "shapes": "scalar",
                "dtypes": ["float64"], "features": [], "facts": ["value", "is_leaf", "grad"]}  # fmt: skip


def facts(v):
    seen = {"value": v.data, "is_leaf": not v.parents}
    return seen | {"grad": {"value": v.grad}} if v.grad is not None else seen


def step(env, op, args=(), kwargs=None, out=(), mode=()):
    if any(isinstance(a, dict) and "ref" in a and a["ref"] not in env for a in args):
        return {"outcome": {"unbound": True}}
    try:
        if op == "del":
            [env.pop(a["ref"]) for a in args]
        else:
            values = [env[a["ref"]] if isinstance(a, dict) and "ref" in a else a for a in args]
            if op not in OPS or (op != "torch.tensor" and not all(isinstance(v, Value) for v in values)):
                raise NotImplementedError(f"no such {op}")
            result = OPS[op](*values, **(kwargs or {}))
            env.update(dict.fromkeys(out, result))
    except NotImplementedError as error:
        return {"outcome": {"unsupported": str(error)}}
    return {"outcome": {"done": True}, "facts": {name: facts(value) for name, value in env.items()}}


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        answer = {"type": "started", "protocol": 1, "name": "NAME", "version": "0.1"}
        answer["capabilities"] = CAPABILITIES
    elif message["type"] == "program":
        env = {}
        seen = [step(env, **each) for each in message["program"]["steps"]]
        answer = {"type": "observations", "id": message["id"], "observations": seen}
    else:
        break
    print(json.dumps(answer), flush=True)
