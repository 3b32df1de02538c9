//===- devices.cpp - Devices, contexts, code ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls on devices, contexts, code and errors, and what tests call.
//
//===----------------------------------------------------------------------===//

#include "call.h"

#include <cstdio>
#include <unistd.h>

using namespace stand_in;

API cuInit(unsigned flags) {
  BEGIN(Nothing, " %u", flags);
  if (state().initCode == -1)
    pause(); // A driver that does not answer.
  if (state().initCode == -2)
    abort();
  if (state().initCode)
    return state().initCode;
  if (flags)
    return InvalidValue;
  if (state().devices.empty())
    return 100;
  state().isInitialized = true;
  return Success;
}

API cuDriverGetVersion(int *version) {
  BEGIN(Nothing, "");
  *version = state().version;
  return Success;
}

API cuDeviceGetCount(int *count) {
  BEGIN(Initialization, "");
  *count = int(state().devices.size());
  return Success;
}

static bool isDevice(int device) {
  return device >= 0 && device < int(state().devices.size());
}

API cuDeviceGet(int *device, int ordinal) {
  BEGIN(Initialization, " %d", ordinal);
  if (!isDevice(ordinal))
    return InvalidDevice;
  *device = ordinal;
  return Success;
}

API cuDeviceGetName(char *name, int length, int device) {
  BEGIN(Initialization, " %d", device);
  if (!isDevice(device))
    return InvalidDevice;
  snprintf(name, size_t(length), "Stand-in GPU %d", device);
  return Success;
}

API cuDeviceTotalMem_v2(size_t *bytes, int device) {
  BEGIN(Initialization, " %d", device);
  if (!isDevice(device))
    return InvalidDevice;
  *bytes = state().memory;
  return Success;
}

API cuDeviceGetAttribute(int *value, int attribute, int device) {
  BEGIN(Initialization, " %d of %d", attribute, device);
  if (!isDevice(device))
    return InvalidDevice;
  const Device &found = state().devices[size_t(device)];
  switch (attribute) {
  case 1: // MAX_THREADS_PER_BLOCK
    *value = 1024;
    return Success;
  case 8: // MAX_SHARED_MEMORY_PER_BLOCK
    *value = 49152;
    return Success;
  case 10: // WARP_SIZE
    *value = 32;
    return Success;
  case 16: // MULTIPROCESSOR_COUNT
    *value = 132;
    return Success;
  case 20: // COMPUTE_MODE
    *value = state().computeMode;
    return Success;
  case 41: // UNIFIED_ADDRESSING
    *value = 1;
    return Success;
  case 75: // COMPUTE_CAPABILITY_MAJOR
    *value = found.major;
    return Success;
  case 76: // COMPUTE_CAPABILITY_MINOR
    *value = found.minor;
    return Success;
  case 97: // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    *value = int(found.sharedLimit());
    return Success;
  case 115: // MEMORY_POOLS_SUPPORTED
    *value = state().hasPools;
    return Success;
  default:
    return InvalidValue;
  }
}

// --- contexts ---------------------------------------------------------------

API cuDevicePrimaryCtxRetain(void **context, int device) {
  BEGIN(Initialization, " %d", device);
  if (!isDevice(device))
    return InvalidDevice;
  if (state().retainCode)
    return state().retainCode;
  auto &made = state().contexts[device];
  if (!made) {
    made = std::make_unique<Context>();
    made->device = device;
  }
  *context = made.get();
  return Success;
}

static bool isContext(const void *handle) {
  for (auto &[device, context] : state().contexts)
    if (context.get() == handle)
      return true;
  return false;
}

API cuCtxGetCurrent(void **context) {
  BEGIN(Initialization, "");
  if (currentContext() && !isContext(currentContext()))
    currentContext() = nullptr; // Of the test before this one.
  *context = currentContext();
  return Success;
}

API cuCtxSetCurrent(void *context) {
  BEGIN(Initialization, " %s",
        !context ? "none"
        : !isContext(context)
            ? "of no device"
            : std::to_string(static_cast<Context *>(context)->device).c_str());
  if (context && !isContext(context))
    return InvalidContext;
  currentContext() = static_cast<Context *>(context);
  return Success;
}

API cuCtxGetDevice(int *device) {
  BEGIN(Context, "");
  *device = currentContext()->device;
  return Success;
}

API cuThreadExchangeStreamCaptureMode(int *mode) {
  BEGIN(Initialization, " %d", *mode);
  if (*mode < 0 || *mode > 2)
    return InvalidValue;
  std::swap(*mode, captureMode());
  return Success;
}

// --- code -------------------------------------------------------------------

API cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  BEGIN(Context, "");
  if (Result code = refuseWhileCapturing())
    return code;
  auto made = std::make_unique<Module>();
  made->context = currentContext();
  std::string log;
  Result result = readCode(static_cast<const char *>(image), *made, log);
  for (unsigned i = 0; i < count; ++i)
    for (unsigned j = 0; j < count; ++j)
      if (options[i] == 5 && options[j] == 6) // ERROR_LOG_BUFFER, its bytes
        snprintf(static_cast<char *>(values[i]),
                 reinterpret_cast<uintptr_t>(values[j]), "%s", log.c_str());
  if (result)
    return result;
  made->number = ++state().moduleNumbers;
  for (auto &function : made->functions)
    state().functions[function.get()] = function.get();
  *module = made.get();
  state().modules[made.get()] = std::move(made);
  return Success;
}

static Module *findModule(void *handle) {
  auto found = state().modules.find(handle);
  bool isLoaded = found != state().modules.end() && found->second->isLoaded;
  return isLoaded ? found->second.get() : nullptr;
}

API cuModuleUnload(void *handle) {
  BEGIN(Context, "");
  if (Result code = refuseWhileCapturing())
    return code;
  Module *module = findModule(handle);
  if (!module || module->context != currentContext())
    return InvalidHandle;
  module->isLoaded = false;
  for (auto &function : module->functions)
    state().functions.erase(function.get());
  return Success;
}

API cuModuleGetFunction(void **function, void *handle, const char *name) {
  BEGIN(Context, " %s", name);
  Module *module = findModule(handle);
  if (!module || module->context != currentContext())
    return InvalidHandle;
  for (auto &candidate : module->functions)
    if (candidate->name == name) {
      *function = candidate.get();
      return Success;
    }
  return NotFound;
}

static Function *findFunction(void *handle) {
  auto found = state().functions.find(handle);
  return found == state().functions.end() ? nullptr : found->second;
}

API cuFuncGetParamInfo(void *handle, size_t index, size_t *offset,
                       size_t *bytes) {
  BEGIN(Context, " %zu", index);
  Function *function = findFunction(handle);
  if (!function)
    return InvalidHandle;
  if (index >= function->parameters.size())
    return InvalidValue;
  *offset = function->parameters[index].first;
  if (bytes)
    *bytes = function->parameters[index].second;
  return Success;
}

API cuFuncGetAttribute(int *value, int attribute, void *handle) {
  BEGIN(Context, " %d", attribute);
  Function *function = findFunction(handle);
  if (!function)
    return InvalidHandle;
  switch (attribute) {
  case 0: // MAX_THREADS_PER_BLOCK
    *value = int(function->maxThreads);
    return Success;
  case 1: // SHARED_SIZE_BYTES
    *value = int(function->staticShared);
    return Success;
  case 8: // MAX_DYNAMIC_SHARED_SIZE_BYTES
    *value = int(function->maxDynamicShared);
    return Success;
  case 14: // NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    *value = function->mayExceedPortableCluster;
    return Success;
  default:
    return InvalidValue;
  }
}

API cuFuncSetAttribute(void *handle, int attribute, int value) {
  BEGIN(Context, " %d to %d", attribute, value);
  Function *function = findFunction(handle);
  if (!function)
    return InvalidHandle;
  const Device &device = state().devices[size_t(function->context->device)];
  if (attribute == 8) {
    if (value < 0 ||
        function->staticShared + unsigned(value) > device.sharedLimit())
      return InvalidValue;
    function->maxDynamicShared = unsigned(value);
    return Success;
  }
  if (attribute == 14 && device.major >= 9) {
    function->mayExceedPortableCluster = value;
    return Success;
  }
  return InvalidValue;
}

// --- what tests call --------------------------------------------------------

extern "C" {
__attribute__((visibility("default"))) void
stand_in_reset(const char *options) {
  reset(options);
}

__attribute__((visibility("default"))) void
stand_in_on_launch(void (*callback)(const LaunchRecord *)) {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  state().onLaunch = callback;
}

/// The nth call of a function from now on fails, or of any for "*".
__attribute__((visibility("default"))) void stand_in_fail(const char *name,
                                                          int nth, int code) {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  state().failing = name;
  state().failingIn = nth;
  state().failingCode = code;
}

/// The next launch does what no kernel may: all calls behind it fail.
__attribute__((visibility("default"))) void stand_in_break(int code) {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  state().faultOfNextLaunch = code;
}

/// How many calls are recorded.
__attribute__((visibility("default"))) size_t stand_in_count_calls() {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  return state().calls.size();
}

/// Call number `index`, until the next call of the driver.
__attribute__((visibility("default"))) const char *
stand_in_get_call(size_t index) {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  return index < state().calls.size() ? state().calls[index].c_str() : "";
}

__attribute__((visibility("default"))) void stand_in_clear_calls() {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  state().calls.clear();
}

__attribute__((visibility("default"))) size_t stand_in_live_bytes() {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  return state().liveBytes;
}

__attribute__((visibility("default"))) size_t stand_in_loaded_modules() {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  size_t loaded = 0;
  for (auto &[handle, module] : state().modules)
    loaded += module->isLoaded;
  return loaded;
}

/// Memory of a device that is the tests' own: it is no call of the driver.
__attribute__((visibility("default"))) uint64_t stand_in_allocate(size_t bytes,
                                                                  int device) {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  uint64_t address = 0;
  allocate(&address, bytes, device, false);
  return address;
}

__attribute__((visibility("default"))) void stand_in_release(uint64_t address) {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  release(address);
}

/// The allocation around an address: its start, bytes and device; false if
/// there is none.
__attribute__((visibility("default"))) int
stand_in_find_memory(uint64_t address, uint64_t *base, uint64_t *bytes,
                     int *device) {
  std::lock_guard<std::recursive_mutex> guard(state().lock);
  const Allocation *found = findAllocation(address, 0, base);
  if (!found)
    return 0;
  *bytes = found->bytes;
  *device = found->device;
  return 1;
}
}

/// Options that the process is started with.
__attribute__((constructor)) static void readEnvironment() {
  if (const char *options = getenv("STAND_IN_DRIVER"))
    reset(options);
}
