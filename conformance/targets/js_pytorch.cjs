// js-pytorch behind the stdio protocol (docs/protocol.md), found where Node.js finds modules (NODE_PATH).
//     autograd-conformance grade 'stdio:node conformance/targets/js_pytorch.cjs'
// Its tensors have a dimension at least, so a number is a list of one here, marked as of rank 0. Grads begin as
// zeros and every tensor on the way keeps its own: grads are shown of leaves, once a gradient may have come.
// Other exponents than 1, 2, 3... come to one of these (docs/findings/js-pytorch-power-of-half.md): not claimed.
"use strict";

const { torch } = require("js-pytorch");
const { version } = JSON.parse(require("fs").readFileSync(require("path").join(require.resolve("js-pytorch"), "../../package.json")));

class Unsupported extends Error {}
const refuse = (why) => { throw new Unsupported(why); };
const isTensor = (x) => x instanceof torch.Tensor;
const ranked = (tensor, rank) => Object.assign(tensor, { rank });
const shape = (x) => (x.rank ? x.shape : []);
const same = (x, y) => JSON.stringify(shape(x)) === JSON.stringify(shape(y));
const axis = (x, dim) => (dim >= -x.rank && dim < x.rank ? (dim + x.rank) % x.rank : refuse("there is no such dimension"));

function elementwise(name) {
  return ([x, y]) => {
    if (typeof y === "number") return ranked(x[name](y), x.rank);
    return isTensor(y) && same(x, y) ? ranked(x[name](y), x.rank) : refuse("operands have one shape");
  };
}
const unary = (name) => ([x]) => ranked(x[name](), x.rank);
const reflected = (name) => ([x, y]) => (typeof y === "number" ? ranked(torch[name](y, x), x.rank) : refuse("two tensors"));
function reduced(name) {
  return ([x, ...rest], { dim = rest[0] }) => {
    if (!x.rank) return ranked(x[name](0), 0); // its one dimension
    const listed = dim && dim.tuple ? dim.tuple : [dim ?? []].flat();
    const dims = (listed.length ? listed : x.shape.map((_, at) => at)).map((each) => axis(x, each));
    return dims.sort((m, n) => n - m).reduce((y, at) => ranked(y[name](at), y.rank - 1), x);
  };
}
function tensor([data], { requires_grad = false }) {
  const depth = (each) => (Array.isArray(each) ? 1 + depth(each[0]) : 0);
  const flat = [data].flat(Infinity);
  if (!flat.length || flat.some((each) => typeof each !== "number")) refuse("there are tensors of numbers alone");
  return Object.assign(ranked(torch.tensor(data, requires_grad), depth(data)), { leaf: requires_grad });
}
function transposed([x, dim0, dim1]) {
  const dims = [axis(x, dim0), axis(x, dim1)];
  return Math.abs(dims[0] - dims[1]) === 1 ? ranked(x.transpose(...dims), x.rank) : refuse("dimensions are consecutive");
}
function reshaped([x, ...sizes]) {
  const wanted = sizes[0] && sizes[0].tuple ? sizes[0].tuple : sizes.flat();
  return wanted.length && wanted.every((n) => n > 0) ? ranked(x.reshape(wanted), wanted.length) : refuse("sizes are positive");
}
const product = ([x, y]) => ranked(x.matmul(y), 2);
const power = ([x, n]) => (n > 0 && Number.isInteger(n) ? ranked(x.pow(n), x.rank) : refuse("exponents are 1, 2, 3..."));

const OPS = {
  "torch.tensor": tensor, backward: ([x]) => x.backward(), reshape: reshaped, transpose: transposed,
  mm: product, pow: power, __pow__: power, __neg__: unary("neg"),
  sum: reduced("sum"), mean: reduced("mean"),
};
for (const name of ["neg", "sqrt", "exp", "log"]) OPS[name] = OPS[`torch.${name}`] = unary(name);
for (const [name, dunder] of Object.entries({ add: "add", sub: "sub", mul: "mul", div: "truediv" })) {
  OPS[name] = OPS[`torch.${name}`] = OPS[`__${dunder}__`] = elementwise(name);
}
OPS.__radd__ = OPS.__add__;
OPS.__rmul__ = OPS.__mul__;
OPS.__rtruediv__ = reflected("div");

const KEYWORDS = { "torch.tensor": "dtype, requires_grad", sum: "dim", mean: "dim" };
const CAPABILITIES = {
  ops: Object.keys(OPS).map((op) => `${op}(${KEYWORDS[op] || ""})`), shapes: "any", dtypes: ["float64"],
  features: [], facts: ["value", "shape", "requires_grad", "grad"],
};

function number(x) {
  if (Number.isNaN(x)) return { float: "nan" };
  return Number.isFinite(x) ? (Object.is(x, -0) ? { float: "-0.0" } : x) : { float: x > 0 ? "inf" : "-inf" };
}
const numbers = (data) => (Array.isArray(data) ? data.map(numbers) : number(data));
const value = (data, rank) => numbers(rank ? data : [data].flat(Infinity)[0]);

function facts(x) {
  const seen = { value: value(x.data, x.rank), shape: shape(x), requires_grad: x.requires_grad };
  if (x.leaf && [x.grad].flat(Infinity).some((g) => g !== 0)) seen.grad = { value: value(x.grad, x.rank) };
  return seen;
}
const names = (args) => args.flatMap((each) => (each && each.ref ? [each.ref] : Array.isArray(each) ? names(each) : []));

function run(steps) {
  const live = {};
  return steps.map(({ op, args = [], kwargs = {}, out = [] }) => {
    try {
      const read = names(args);
      if (read.some((name) => !(name in live))) return { outcome: { unbound: true } };
      if (op === "del") { read.forEach((name) => delete live[name]); return { outcome: { done: true } }; }
      if (!(op in OPS)) refuse(`no ${op}`);
      const values = args.map((each) => (each && each.ref ? live[each.ref] : each));
      if (op !== "torch.tensor" && !isTensor(values[0])) refuse("a tensor comes first");
      const result = OPS[op](values, kwargs);
      if (out.length) live[out[0]] = result;
      const seen = op === "backward" ? Object.keys(live) : [...new Set([...read, ...out])];
      return { outcome: { done: true }, facts: Object.fromEntries(seen.map((name) => [name, facts(live[name])])) };
    } catch (error) {
      return { outcome: error instanceof Unsupported ? { unsupported: error.message } : { crashed: String(error) } };
    }
  });
}

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, id, program } = JSON.parse(line);
  if (type === "start") say({ type: "started", protocol: 1, name: "js-pytorch", version, capabilities: CAPABILITIES });
  if (type === "program") say({ type: "observations", id, observations: run(program.steps) });
  if (type === "stop") process.exit(0);
});
