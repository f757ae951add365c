// The device itself: memory, guard, hooks, the numbers of nodes, and how tensors are made there.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/SequenceNumber.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

namespace {

constexpr auto STANDIN = c10::DeviceType::PrivateUse1;
constexpr c10::DeviceIndex COUNT = 2;
thread_local c10::DeviceIndex current = 0;
std::atomic<int64_t> copies{0};

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = bytes ? c10::alloc_cpu(bytes) : nullptr;
    return {data, data, &c10::free_cpu, c10::Device(STANDIN, current)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &c10::free_cpu; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
};
Memory memory;
REGISTER_ALLOCATOR(STANDIN, &memory);

// Threads number the nodes they make each for itself, so that which of two is younger depends on all that ran before. Here
// they go on where the others are.
std::atomic<uint64_t> youngest{0};
void count_on() {
  auto here = at::sequence_number::peek();
  for (auto there = youngest.load(); here < there; here = at::sequence_number::peek()) at::sequence_number::get_and_increment();
  for (auto there = youngest.load(); there < here && !youngest.compare_exchange_weak(there, here);) {
  }
}

// Work is done when it is asked for, so streams and events have nothing to wait for.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return STANDIN; }
  c10::Device getDevice() const override { return {STANDIN, current}; }
  void setDevice(c10::Device device) const override { current = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current = device.index(); }
  c10::Device exchangeDevice(c10::Device device) const override {
    auto before = getDevice();
    if (device.has_index()) current = device.index();
    return before;
  }
  c10::DeviceIndex deviceCount() const noexcept override { return COUNT; }
  // The engine comes by before it hands a backward's first nodes to the threads.
  c10::Stream getStream(c10::Device device) const override {
    count_on();
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getNewStream(c10::Device device, int) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  // The engine comes by before each node that it runs on a thread of this device.
  c10::Stream exchangeStream(c10::Stream stream) const override {
    count_on();
    return stream;
  }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct OnDevice {
  c10::DeviceIndex before = current;
  explicit OnDevice(std::optional<c10::Device> device) {
    if (device && device->has_index()) {
      TORCH_CHECK(device->index() < COUNT, "standin: invalid device ordinal");
      current = device->index();
    }
  }
  ~OnDevice() { current = before; }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return COUNT; }
  c10::DeviceIndex getCurrentDevice() const override { return current; }
  c10::Device getDeviceFromPtr(void*) const override { return {STANDIN, current}; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    auto* impl = storage.unsafeGetStorageImpl();
    OnDevice there(storage.device());
    auto fresh = memory.allocate(bytes);
    if (auto kept = std::min(bytes, impl->nbytes())) std::memcpy(fresh.get(), impl->data(), kept);
    impl->set_data_ptr_noswap(std::move(fresh));
    impl->set_nbytes(bytes);
  }
};
const bool hooked = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks());
  return true;
}();

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  OnDevice there(device);
  return at::detail::empty_generic(sizes, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  OnDevice there(device);
  return at::detail::empty_strided_generic(sizes, strides, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           c10::dtype_or_default(dtype));
}

// Zeros without memory.
at::Tensor zeros_without_memory(c10::IntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                                std::optional<at::Device> device, std::optional<bool>) {
  OnDevice there(device);
  at::native::ZeroTensorAllocator none(c10::Device(STANDIN, current));
  const auto keys = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1) | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor);
  return at::detail::empty_generic(sizes, &none, keys, c10::dtype_or_default(dtype), std::nullopt);
}

}  // namespace
