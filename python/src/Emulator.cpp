//===- Emulator.cpp - Python bindings of the emulator ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The records of workgroup/Emulator/Emulator.h, and launches that can be
// watched and interrupted.
//
//===----------------------------------------------------------------------===//

#include "workgroup/Emulator/Emulator.h"
#include "Bindings.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <thread>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::workgroup;

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// Runs a launch on a thread of its own, so that this one can listen to signals
/// and tell `onProgress` how many blocks are done.
static LaunchResult launch(EmulatedKernel &kernel, const LaunchRequest &request,
                           nb::object onProgress) {
  LaunchProgress progress;
  LaunchResult result;
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  std::thread host([&] {
    result = kernel.launch(request, progress);
    std::lock_guard<std::mutex> guard(mutex);
    isDone = true;
    changed.notify_one();
  });
  bool isInterrupted = false;
  auto waitALittle = [&] {
    nb::gil_scoped_release release;
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait_for(lock, std::chrono::milliseconds(50),
                            [&] { return isDone; });
  };
  while (!waitALittle()) {
    if (isInterrupted)
      continue;
    isInterrupted = PyErr_CheckSignals() != 0;
    if (!isInterrupted && !onProgress.is_none()) {
      PyObject *answer = PyObject_CallFunction(
          onProgress.ptr(), "K",
          static_cast<unsigned long long>(progress.blocksDone));
      isInterrupted = answer == nullptr;
      Py_XDECREF(answer);
    }
    progress.stop = isInterrupted;
  }
  host.join();
  if (isInterrupted)
    throw nb::python_error();
  return result;
}

static nb::object makeKernel(nb::bytes bitcode, const std::string &name,
                             const EmulatorOptions &options,
                             std::vector<SourceText> sources,
                             std::vector<SharedBuffer> sharedBuffers) {
  std::string code(bitcode.c_str(), bitcode.size());
  std::vector<DiagnosticRecord> errors;
  std::unique_ptr<EmulatedKernel> kernel;
  {
    nb::gil_scoped_release release;
    kernel = EmulatedKernel::create(code, name, options, std::move(sources),
                                    std::move(sharedBuffers), errors);
  }
  if (!kernel)
    return nb::cast(errors);
  return nb::cast(std::move(kernel));
}

/// The bytes of a value, which need not be text.
static void setBytes(ParameterValue &value, nb::bytes bytes) {
  value.bytes.assign(bytes.c_str(), bytes.size());
}

static void setAddress(BufferView &view, uint64_t address) {
  view.address = reinterpret_cast<void *>(address);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// The options of a translation.
static void bindEmulatorOptions(nb::module_ &m) {
  nb::enum_<Check>(m, "Check")
      .value("NONE", Check::None)
      .value("RACES", Check::Races)
      .value("ALL", Check::All);
  nb::class_<EmulatorOptions>(m, "EmulatorOptions")
      .def(nb::init<>())
      .def_rw("check", &EmulatorOptions::check)
      .def_rw("statistics", &EmulatorOptions::statistics)
      .def_rw("delays", &EmulatorOptions::delays)
      .def_rw("forgets_values", &EmulatorOptions::forgetsValues)
      .def_rw("chip", &EmulatorOptions::chip);
}

/// Arrays, and tensor maps of them.
static void bindViews(nb::module_ &m) {
  nb::class_<BufferView>(m, "BufferView")
      .def(nb::init<>())
      .def("set_address", &setAddress, "address"_a)
      .def_rw("bytes", &BufferView::bytes)
      .def_rw("name", &BufferView::name)
      .def_rw("element_type", &BufferView::elementType)
      .def_rw("element_bytes", &BufferView::elementBytes)
      .def_rw("shape", &BufferView::shape)
      .def_rw("strides", &BufferView::strides)
      .def_rw("origin", &BufferView::origin)
      .def_rw("is_writable", &BufferView::isWritable);
  nb::enum_<TensorSwizzle>(m, "TensorSwizzle")
      .value("NONE", TensorSwizzle::None)
      .value("BYTES_32", TensorSwizzle::Bytes32)
      .value("BYTES_64", TensorSwizzle::Bytes64)
      .value("BYTES_128", TensorSwizzle::Bytes128);
  nb::enum_<TensorInterleave>(m, "TensorInterleave")
      .value("NONE", TensorInterleave::None)
      .value("BYTES_16", TensorInterleave::Bytes16)
      .value("BYTES_32", TensorInterleave::Bytes32);
  nb::enum_<TensorFill>(m, "TensorFill")
      .value("ZERO", TensorFill::Zero)
      .value("NAN", TensorFill::NaN);
  nb::class_<TensorMapView>(m, "TensorMapView")
      .def(nb::init<>())
      .def_rw("buffer", &TensorMapView::buffer)
      .def_rw("offset", &TensorMapView::offset)
      .def_rw("dims", &TensorMapView::dims)
      .def_rw("strides", &TensorMapView::strides)
      .def_rw("box", &TensorMapView::box)
      .def_rw("element_strides", &TensorMapView::elementStrides)
      .def_rw("element_bytes", &TensorMapView::elementBytes)
      .def_rw("swizzle", &TensorMapView::swizzle)
      .def_rw("interleave", &TensorMapView::interleave)
      .def_rw("oob_fill", &TensorMapView::oobFill);
}

static void bindRequests(nb::module_ &m) {
  nb::enum_<Order>(m, "Order")
      .value("FORWARD", Order::Forward)
      .value("REVERSE", Order::Reverse)
      .value("SEEDED", Order::Seeded);
  nb::enum_<AsyncMode>(m, "AsyncMode")
      .value("ON_WAIT", AsyncMode::OnWait)
      .value("EAGER", AsyncMode::Eager)
      .value("SEEDED", AsyncMode::Seeded);
  nb::class_<ParameterValue>(m, "ParameterValue")
      .def(nb::init<>())
      .def_rw("buffer", &ParameterValue::buffer, nb::arg().none())
      .def_rw("offset", &ParameterValue::offset)
      .def_rw("tensor_map", &ParameterValue::tensorMap, nb::arg().none())
      .def("set_bytes", &setBytes, "bytes"_a);
  nb::class_<LaunchRequest>(m, "LaunchRequest")
      .def(nb::init<>())
      .def_rw("grid", &LaunchRequest::grid)
      .def_rw("block", &LaunchRequest::block)
      .def_rw("cluster", &LaunchRequest::cluster, nb::arg().none())
      .def_rw("dynamic_shared_bytes", &LaunchRequest::dynamicSharedBytes)
      .def_rw("buffers", &LaunchRequest::buffers)
      .def_rw("parameters", &LaunchRequest::parameters)
      .def_rw("order", &LaunchRequest::order)
      .def_rw("async_mode", &LaunchRequest::asyncMode)
      .def_rw("seed", &LaunchRequest::seed)
      .def_rw("step_limit", &LaunchRequest::stepLimit)
      .def_rw("workers", &LaunchRequest::workers)
      .def_rw("block_limit", &LaunchRequest::blockLimit)
      .def_rw("find_fixes", &LaunchRequest::findFixes);
}

static void bindFindings(nb::module_ &m) {
  nb::class_<ThreadId>(m, "ThreadId")
      .def_ro("block", &ThreadId::block)
      .def_ro("thread", &ThreadId::thread)
      .def_ro("warp", &ThreadId::warp)
      .def_ro("lane", &ThreadId::lane);
  nb::class_<AccessRecord>(m, "Access")
      .def_ro("verb", &AccessRecord::verb)
      .def_ro("thread", &AccessRecord::thread)
      .def_ro("location", &AccessRecord::location)
      .def_ro("bytes", &AccessRecord::bytes);
  nb::class_<FixRecord>(m, "Fix")
      .def_ro("location", &FixRecord::location)
      .def_ro("place", &FixRecord::place)
      .def_ro("is_verified", &FixRecord::isVerified)
      .def_ro("is_uniform", &FixRecord::isUniform);
  nb::class_<FindingRecord>(m, "Finding")
      .def_ro("kind", &FindingRecord::kind)
      .def_ro("severity", &FindingRecord::severity)
      .def_ro("message", &FindingRecord::message)
      .def_ro("space", &FindingRecord::space)
      .def_ro("buffer", &FindingRecord::buffer)
      .def_ro("indices", &FindingRecord::indices)
      .def_ro("byte_offset", &FindingRecord::byteOffset)
      .def_ro("accesses", &FindingRecord::accesses)
      .def_ro("notes", &FindingRecord::notes)
      .def_ro("count", &FindingRecord::count)
      .def_ro("blocks", &FindingRecord::blocks)
      .def_ro("fixes", &FindingRecord::fixes);
}

static void bindResults(nb::module_ &m) {
  nb::class_<AccessStatistics>(m, "AccessStatistics")
      .def_ro("location", &AccessStatistics::location)
      .def_ro("space", &AccessStatistics::space)
      .def_ro("kind", &AccessStatistics::kind)
      .def_ro("bytes", &AccessStatistics::bytes)
      .def_ro("requests", &AccessStatistics::requests)
      .def_ro("accesses", &AccessStatistics::accesses)
      .def_ro("wavefronts", &AccessStatistics::wavefronts)
      .def_ro("ideal_wavefronts", &AccessStatistics::idealWavefronts)
      .def_ro("sectors", &AccessStatistics::sectors)
      .def_ro("dense_sectors", &AccessStatistics::denseSectors);
  nb::class_<LaunchStatistics>(m, "LaunchStatistics")
      .def_ro("instructions", &LaunchStatistics::instructions)
      .def_ro("accesses", &LaunchStatistics::accesses)
      .def_ro("barriers", &LaunchStatistics::barriers)
      .def_ro("warp_operations", &LaunchStatistics::warpOperations)
      .def_ro("per_access", &LaunchStatistics::perAccess);
  nb::class_<LaunchResult>(m, "LaunchResult")
      .def_ro("findings", &LaunchResult::findings)
      .def_ro("diagnostics", &LaunchResult::diagnostics)
      .def_ro("rendered", &LaunchResult::rendered)
      .def_ro("blocks_run", &LaunchResult::blocksRun)
      .def_ro("blocks", &LaunchResult::blocks)
      .def_ro("unreached", &LaunchResult::unreached)
      .def_prop_ro("output",
                   [](const LaunchResult &result) {
                     return nb::bytes(result.output.data(),
                                      result.output.size());
                   })
      .def_ro("statistics", &LaunchResult::statistics)
      .def_ro("was_stopped", &LaunchResult::wasStopped)
      .def_ro("crash", &LaunchResult::crash);
}

void bindEmulator(nb::module_ &m) {
  bindEmulatorOptions(m);
  bindViews(m);
  bindRequests(m);
  bindFindings(m);
  bindResults(m);
  // Handed on to the emulator as it is.
  nb::class_<SharedBuffer> buffer(m, "SharedBuffer");
  makePicklable(buffer, &SharedBuffer::symbol, &SharedBuffer::offset,
                &SharedBuffer::bytes, &SharedBuffer::name,
                &SharedBuffer::elementType, &SharedBuffer::elementBytes,
                &SharedBuffer::shape, &SharedBuffer::strides,
                &SharedBuffer::location);
  nb::class_<EmulatedKernel>(m, "EmulatedKernel")
      .def("launch", &launch, "request"_a, "on_progress"_a.none() = nb::none(),
           "Run the kernel on the host.")
      .def_prop_ro("needs_values", &EmulatedKernel::needsValues,
                   "Whether what memory holds decides something.")
      .def("refuse", &EmulatedKernel::refuse, "request"_a,
           "Why the kernel cannot be launched so; empty if it can.");
  m.def("emulate", &makeKernel, "bitcode"_a, "name"_a, "options"_a, "sources"_a,
        "shared_buffers"_a,
        nb::sig("def emulate(bitcode: bytes, name: str, options: "
                "EmulatorOptions, sources: collections.abc.Sequence[SourceText]"
                ", shared_buffers: collections.abc.Sequence[SharedBuffer]) -> "
                "EmulatedKernel | list[Diagnostic]"),
        "Translate a kernel for the host: it, or the errors.");
}
