// A second kind of device for a PyTorch without one: PrivateUse1 under the name "standin".
//
// Its memory is host memory and its kernels are the CPU's; all that lies above the backend key (autograd, views, version
// counters, copies between devices, a thread of the engine for each device) is PyTorch's own. What a stand-in cannot
// show is written down beside the loader.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_efficientzerotensor.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/fill_native.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>
#include <torch/library.h>

#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device.h"

namespace {

// The ops whose operands CUDA checks one by one as it iterates, after their shapes; set when the module is loaded.
std::unordered_set<std::string>& iterated() {
  static auto* names = new std::unordered_set<std::string>;
  return *names;
}

// The same zeros on another device.
at::Tensor without_memory(const at::Tensor& zeros, c10::Device device) {
  auto there = at::_efficientzerotensor(zeros.sizes(), zeros.options().device(device));
  there.unsafeGetTensorImpl()->set_sizes_and_strides(zeros.sizes(), zeros.strides());
  return there;
}

// CPU tensors on the very memory of the device's, for a kernel to work on. What is one tensor, or shares a storage, goes
// on doing so: kernels look whether what they read overlaps with what they write.
class Lent {
 public:
  at::Tensor operator()(const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.device().type() != STANDIN) return tensor;
    auto& alias = tensors_[tensor.unsafeGetTensorImpl()];
    if (alias.defined()) return alias;
    if (tensor._is_zerotensor()) return alias = without_memory(tensor, c10::kCPU);
    const auto& storage = tensor.storage();
    auto found = storages_.find(storage.unsafeGetStorageImpl());
    if (found == storages_.end()) {
      c10::Storage lent(c10::Storage::use_byte_size_t(), storage.nbytes(),
                        c10::DataPtr(storage.mutable_data(), c10::Device(c10::kCPU)), c10::GetCPUAllocator(), true);
      found = storages_.emplace(storage.unsafeGetStorageImpl(), lent).first;
    }
    alias = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(found->second),
                                                          c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
    alias.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
    alias._set_conj(tensor.is_conj());
    alias._set_neg(tensor.is_neg());
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) alias.unsafeGetTensorImpl()->set_wrapped_number(true);
    return alias;
  }

 private:
  std::unordered_map<c10::StorageImpl*, c10::Storage> storages_;
  std::unordered_map<c10::TensorImpl*, at::Tensor> tensors_;
};

// What a kernel made, in memory of the device.
at::Tensor homed(const at::Tensor& made, c10::Device device) {
  if (!made.defined() || made.device().type() == STANDIN) return made;
  if (made._is_zerotensor()) return without_memory(made, device);
  auto home = empty_strided(made.sizes(), made.strides(), made.scalar_type(), {}, device, {});
  Lent lend;
  lend(home).copy_(made);
  return home;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  if (from.device() != to.device()) ++copies;
  c10::impl::ExcludeDispatchKeyGuard below(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  Lent lend;
  lend(to).copy_(lend(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar local_scalar(const at::Tensor& tensor) {
  ++copies;
  Lent lend;
  return at::native::_local_scalar_dense_cpu(lend(tensor));
}

const at::Tensor& resize(const at::Tensor& self, c10::SymIntArrayRef sizes, std::optional<at::MemoryFormat> format) {
  OnDevice there(self.device());
  return at::native::resize_(self, C10_AS_INTARRAYREF_SLOW(sizes), format);
}

at::Tensor& set_to_window(at::Tensor& self, at::Storage storage, int64_t offset, c10::IntArrayRef sizes,
                          c10::IntArrayRef strides) {
  return at::native::set_storage_cpu_(self, std::move(storage), offset, sizes, strides);
}

at::Tensor& set_to_storage(at::Tensor& self, at::Storage storage) { return at::native::set_(self, std::move(storage)); }

at::Tensor& set_to_tensor(at::Tensor& self, const at::Tensor& source) {
  return at::native::set_tensor_(self, source);
}

at::Tensor& fill_with_tensor(at::Tensor& self, const at::Tensor& value) {
  // As for CUDA; PyTorch's own would look for a kernel of this device to write the number.
  if (value.dim() != 0 || self.device() == value.device()) return at::native::fill_(self, value);
  return self.fill_(value.item());
}

at::Tensor& set_to_nothing(at::Tensor& self) {
  OnDevice there(self.device());
  c10::Storage none(c10::Storage::use_byte_size_t(), 0, memory.allocate(0), &memory, true);
  self.set_(none, 0, {0}, {});
  return self;
}

// Tensors take over the memory of others of any device, as CUDA's do.
bool swaps(const at::Tensor&, const at::Tensor&) { return true; }

struct Operand {
  at::Tensor tensor;
  size_t at;
  bool listed;
  bool written;
};

// Ops that iterate over elements take one number of the CPU beside tensors of a device (`where` any); it cannot be what
// is written to. In brackets, positions may lie on the CPU.
std::optional<c10::Device> stranger(const c10::OperatorHandle& op, const std::vector<Operand>& operands,
                                    c10::Device device, bool iterates) {
  const auto& name = op.schema().name();
  const bool indexes = name == "aten::index" || name.find("index_put") != std::string::npos;
  const bool fills = name.rfind("aten::masked_fill", 0) == 0;
  const bool bounds = name.rfind("aten::clamp", 0) == 0;
  size_t numbers = bounds ? 1 : 0;
  // A value with dimensions is refused before anything is asked of devices.
  for (const auto& operand : operands)
    if (fills && operand.at == 2 && operand.tensor.dim() != 0) return {};
  for (const auto& operand : operands) {
    if (operand.tensor.device() == device) continue;
    const bool on_cpu = operand.tensor.device().is_cpu();
    if (indexes && operand.listed && on_cpu) continue;
    if (fills && operand.at == 2 && on_cpu && operand.tensor.dim() == 0) continue;
    if (iterates && on_cpu && operand.tensor.dim() == 0 && !operand.written && (name == "aten::where" || numbers++ == 0)) continue;
    return operand.tensor.device();
  }
  return {};
}

template <class Visit>
void each_tensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) visit(tensor);
  } else if (value.isOptionalTensorList()) {
    for (const auto& tensor : value.toOptionalTensorVector())
      if (tensor) visit(*tensor);
  }
}

c10::IValue lent_value(const c10::IValue& value, Lent& lend) {
  if (value.isTensor()) return lend(value.toTensor());
  if (value.isTensorList()) {
    auto tensors = value.toTensorVector();
    for (auto& tensor : tensors) tensor = lend(tensor);
    return tensors;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const auto& tensor : value.toOptionalTensorVector())
      tensors.push_back(tensor ? std::optional<at::Tensor>(lend(*tensor)) : std::nullopt);
    return tensors;
  }
  if (value.isDevice() && value.toDevice().type() == STANDIN) return c10::Device(c10::kCPU);
  return value;
}

// A written operand whose lent form has another shape or memory now, as an `out` that had to grow.
void bring_back(const at::Tensor& written, const at::Tensor& lent) {
  if (written.sizes() == lent.sizes() && written.strides() == lent.strides() &&
      written.storage().data() == lent.storage().data())
    return;
  OnDevice there(written.device());
  at::native::resize_(written, lent.sizes());
  if (lent.is_non_overlapping_and_dense()) written.unsafeGetTensorImpl()->set_sizes_and_strides(lent.sizes(), lent.strides());
  Lent again;
  again(written).copy_(lent);
}

// Kernels that are made of calls for any device: what these record, or refuse to, of an inference tensor alone.
void called_again(const c10::FunctionSchema& schema, const std::vector<c10::IValue>& given, at::Tensor& made) {
  const auto& name = schema.name();
  const bool power = name == "aten::pow" && schema.overload_name() == "Scalar";
  if (!given[power].isTensor()) return;
  const auto x = given[power].toTensor();
  if (!x.defined() || !x.is_inference() || !x.requires_grad() || !at::GradMode::is_enabled()) return;
  if (power) {
    if (!given[0].toScalar().equal(1)) at::pow_out(made, at::scalar_tensor(given[0].toScalar(), x.options()), x);
  } else if (name == "aten::pow" && schema.overload_name() == "Tensor_Scalar") {
    if (given[1].toScalar().equal(1)) made.copy_(x);
  } else if (name == "aten::flip") {
    bool moves = false;
    for (auto dim : given[1].toIntVector()) moves |= x.dim() && x.numel() > 1 && x.size(dim) > 1 && x.stride(dim) != 0;
    if (!moves) made.copy_(x);
  } else if (name == "aten::cumsum" && x.dim() == 0) {
    made.fill_(x);
  }
}

// The op that the CPU has a kernel for. Of a device it does not know PyTorch asks for convolutions under other names, and
// the gradients without the sizes of the bias.
c10::OperatorHandle of_the_cpu(const c10::OperatorHandle& op, std::vector<c10::IValue>& lent) {
  const auto& name = op.schema().name();
  const auto find = [](const char* known) { return c10::Dispatcher::singleton().findSchemaOrThrow(known, ""); };
  if (name == "aten::convolution_overrideable") return find("aten::convolution");
  if (name != "aten::convolution_backward_overrideable") return op;
  const auto weight = lent[2].toTensor();
  const bool transposed = lent[6].toBool();
  const int64_t channels = transposed ? weight.size(1) * lent[8].toInt() : weight.size(0);
  lent.insert(lent.begin() + 3, c10::IValue(std::vector<int64_t>{channels}));
  return find("aten::convolution_backward");
}

// Every op that has no kernel here: the CPU's, on the same memory.
void by_the_cpu(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  count_on();
  const auto& schema = op.schema();
  const auto count = schema.arguments().size();
  const auto given = torch::jit::pop(*stack, count);
  std::vector<Operand> operands;
  std::optional<c10::Device> device;
  for (size_t at = 0; at < count; ++at) {
    const auto& value = given[at];
    const auto* alias = schema.arguments()[at].alias_info();
    each_tensor(value, [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      operands.push_back({tensor, at, !value.isTensor(), alias && alias->isWrite()});
      if (!device && tensor.device().type() == STANDIN) device = tensor.device();
    });
    if (!device && value.isDevice() && value.toDevice().type() == STANDIN) device = value.toDevice();
  }
  const auto there = device.value_or(c10::Device(STANDIN, current));
  const bool iterates =
      iterated().count(toString(schema.operator_name())) != 0 && schema.name().rfind("aten::masked_fill", 0) != 0;
  const auto other = stranger(op, operands, there, iterates);
  Lent lend;
  std::vector<c10::IValue> lent;
  for (const auto& value : given) lent.push_back(lent_value(value, lend));
  if (other && iterates && schema.name() != "aten::index") {
    // Tried on copies: what the kernel refuses is refused first.
    torch::jit::Stack trial;
    for (const auto& value : lent)
      trial.push_back(value.isTensor() && value.toTensor().defined() ? c10::IValue(value.toTensor().clone()) : value);
    op.callBoxed(&trial);
  }
  TORCH_CHECK(!other, "Expected all tensors to be on the same device, but found at least two devices, ", there, " and ",
              *other, "!");
  const auto kernel = of_the_cpu(op, lent);
  for (const auto& value : lent) stack->push_back(value);
  kernel.callBoxed(stack);

  const auto& returns = schema.returns();
  auto made = torch::jit::pop(*stack, returns.size());
  for (size_t at = 0; at < count; ++at) {
    const auto* alias = schema.arguments()[at].alias_info();
    if (!alias || !alias->isWrite()) continue;
    if (given[at].isTensor() && given[at].toTensor().defined() && given[at].toTensor().device().type() == STANDIN)
      bring_back(given[at].toTensor(), lent[at].toTensor());
  }
  for (size_t at = 0; at < made.size(); ++at) {
    auto& value = made[at];
    const auto* alias = returns[at].alias_info();
    if (value.isTensor()) {
      bool answered = false;
      if (alias && alias->isWrite()) {
        for (size_t from = 0; from < count && !answered; ++from) {
          const auto* of = schema.arguments()[from].alias_info();
          if (of && *of == *alias && given[from].isTensor()) {
            value = given[from];
            answered = true;
          }
        }
      }
      TORCH_CHECK(answered || !alias, "standin has no kernel for the view ", toString(schema.operator_name()));
      if (!answered) {
        auto home = homed(value.toTensor(), there);
        called_again(schema, given, home);
        value = home;
      }
    } else if (value.isTensorList()) {
      auto tensors = value.toTensorVector();
      for (auto& tensor : tensors) tensor = homed(tensor, there);
      value = tensors;
    }
    stack->push_back(value);
  }
}

// Ops that PyTorch would take apart for a device it does not know, looking at shapes first, are the kernel's as a whole.
void take_over(const std::vector<std::string>& names) {
  static auto* held = new std::vector<c10::RegistrationHandleRAII>;
  for (const auto& name : names) {
    const auto dot = name.find('.');
    c10::OperatorName op{name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)};
    if (!c10::Dispatcher::singleton().findSchema(op)) continue;
    held->push_back(c10::Dispatcher::singleton().registerImpl(
        op, c10::DispatchKey::PrivateUse1, c10::KernelFunction::makeFromBoxedFunction<&by_the_cpu>(), std::nullopt, nullptr,
        "standin"));
  }
}

std::vector<std::string> lines(const char* text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&by_the_cpu>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&by_the_cpu>());
  m.impl("convolution_backward_overrideable", torch::CppFunction::makeFromBoxedFunction<&by_the_cpu>());
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_efficientzerotensor", zeros_without_memory);
  m.impl("_has_compatible_shallow_copy_type", swaps);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar);
  m.impl("resize_", resize);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("alias", at::native::alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("fill_.Tensor", fill_with_tensor);
  m.impl("set_", set_to_nothing);
  m.impl("set_.source_Storage_storage_offset", set_to_window);
  m.impl("set_.source_Storage", set_to_storage);
  m.impl("set_.source_Tensor", set_to_tensor);
}

// Not below autograd, which would ask for histories.
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { m.impl("_has_compatible_shallow_copy_type", swaps); }

// Copies see to what is conjugated or negated by themselves, as those of CUDA do.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }

// What the loader calls; names come one a line, as `c10::OperatorName` prints them.
extern "C" {
int device_count() { return COUNT; }
int current_device() { return current; }
void set_device(int index) { current = static_cast<c10::DeviceIndex>(index); }
long long copies_made() { return copies.load(); }
void count_nodes_on() { count_on(); }
void take_over(const char* names) { take_over(lines(names)); }
void iterate(const char* names) {
  for (auto& name : lines(names)) iterated().insert(std::move(name));
}
}
