//===- symbols.cpp - How functions are found ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of errors, and how cuda-bindings finds functions: by name and the CUDA
// version that it wants them of.
//
//===----------------------------------------------------------------------===//

#include "call.h"

#include <dlfcn.h>

using namespace stand_in;

namespace {
struct ErrorName {
  int code;
  const char *name, *text;
};
} // namespace

static const ErrorName errorNames[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {304, "CUDA_ERROR_OPERATING_SYSTEM",
     "OS call failed or operation not supported on this OS"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "forward compatibility was attempted on non supported HW"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking "
     "stream"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "invalid cluster size"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

API cuGetErrorName(int code, const char **name) {
  for (const ErrorName &error : errorNames)
    if (error.code == code) {
      *name = error.name;
      return Success;
    }
  *name = nullptr;
  return InvalidValue;
}

API cuGetErrorString(int code, const char **text) {
  for (const ErrorName &error : errorNames)
    if (error.code == code) {
      *text = error.text;
      return Success;
    }
  *text = nullptr;
  return InvalidValue;
}

/// The CUDA version from which on a name means its second or third form.
static const char *suffixOf(const std::string &name, int version) {
  if (name == "cuStreamGetCaptureInfo")
    return version >= 12030 ? "_v3" : "_v2";
  if (name == "cuStreamBeginCapture")
    return "_v2";
  static const char *const second[] = {
      "cuDeviceTotalMem",  "cuMemAlloc",        "cuMemFree",
      "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync",
      "cuMemcpy2DAsync",   "cuStreamDestroy",   "cuEventDestroy",
      "cuGetProcAddress",
  };
  for (const char *each : second)
    if (name == each)
      return "_v2";
  return "";
}

API cuGetProcAddress_v2(const char *symbol, void **function, int version,
                        uint64_t, int *status) {
  static void *self = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&cuGetErrorName), &info);
    return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NOW);
  }();
  std::string name = std::string(symbol) + suffixOf(symbol, version);
  *function = self ? dlsym(self, name.c_str()) : nullptr;
  if (status)
    *status = *function ? 0 : 1;
  return *function ? Success : NotFound;
}

API cuGetProcAddress(const char *symbol, void **function, int version,
                     uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
