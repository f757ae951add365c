// NAME behind the stdio protocol (docs/protocol.md): a line of JSON is a message. Replace the engine by yours.
//     autograd-conformance grade 'stdio:node NAME.js'
"use strict";

class Value {
  constructor(data, parents = [], pull = () => {}) {
    Object.assign(this, { data, parents, pull, grad: 0, reached: false });
  }
  add(y) { return new Value(this.data + y.data, [this, y], (g) => { give(this, g); give(y, g); }); }
  mul(y) { return new Value(this.data * y.data, [this, y], (g) => { give(this, g * y.data); give(y, g * this.data); }); }
  backward() {
    const order = [], seen = new Set();
    const visit = (v) => { if (!seen.has(v)) { seen.add(v); v.parents.forEach(visit); order.push(v); } };
    visit(this);
    const upstream = new Map([[this, 1]]);
    current = upstream;
    for (const v of order.reverse()) {
      if (v.parents.length) v.pull(upstream.get(v) || 0);
      else { v.grad += upstream.get(v) || 0; v.reached = true; }
    }
  }
}
let current = new Map();
const give = (v, g) => current.set(v, (current.get(v) || 0) + g);

const OPS = {
  "torch.tensor": ([data], { requires_grad }) => {
    if (!requires_grad || typeof data !== "number") throw new Unsupported("leaves are numbers that require grad");
    return new Value(data);
  },
  add: ([x, y]) => x.add(y),
  mul: ([x, y]) => x.mul(y),
  backward: ([x]) => x.backward(),
};
const CAPABILITIES = {
  ops: Object.keys(OPS).map((op) => (op === "torch.tensor" ? op : `${op}()`)), shapes: "scalar", dtypes: ["float64"],
  features: [], facts: ["value", "is_leaf", "grad"],
};
class Unsupported extends Error {}

function facts(v) {
  const seen = { value: v.data, is_leaf: v.parents.length === 0 };
  if (seen.is_leaf && v.reached) seen.grad = { value: v.grad };
  return seen;
}
function run(steps) {
  const env = {};
  return steps.map(({ op, args = [], kwargs = {}, out = [] }) => {
    try {
      const names = [...new Set([...args.filter((a) => a && a.ref).map((a) => a.ref), ...out])];
      if (args.some((a) => a && a.ref && !(a.ref in env))) return { outcome: { unbound: true } };
      if (op === "del") { args.forEach((a) => delete env[a.ref]); return { outcome: { done: true } }; }
      const values = args.map((a) => (a && a.ref ? env[a.ref] : a));
      if (!(op in OPS)) throw new Unsupported(`no ${op}`);
      if (op !== "torch.tensor" && values.some((v) => !(v instanceof Value))) throw new Unsupported("numbers");
      const result = OPS[op](values, kwargs);
      if (out.length) env[out[0]] = result;
      const live = op === "backward" ? Object.keys(env) : names;
      return { outcome: { done: true }, facts: Object.fromEntries(live.map((n) => [n, facts(env[n])])) };
    } catch (error) {
      return { outcome: error instanceof Unsupported ? { unsupported: error.message } : { crashed: String(error) } };
    }
  });
}

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, id, program } = JSON.parse(line);
  if (type === "start") say({ type: "started", protocol: 1, name: "NAME", version: "0.1", capabilities: CAPABILITIES });
  if (type === "program") say({ type: "observations", id, observations: run(program.steps) });
  if (type === "stop") process.exit(0);
});
