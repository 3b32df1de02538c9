//===- state.h - What the stand-in knows ---------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the stand-in knows: devices, contexts, streams, memory, captures, the
// record of calls, and the failures that tests ask for.
//
//===----------------------------------------------------------------------===//

#ifndef STAND_IN_STATE_H
#define STAND_IN_STATE_H

#include "layouts.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace stand_in {

/// Results as `CUresult` numbers them.
enum Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  UnsupportedPtxVersion = 222,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CaptureInvalidated = 901,
  CaptureUnmatched = 903,
  CaptureUnjoined = 904,
  CaptureImplicit = 906,
  CaptureWrongThread = 908,
  InvalidClusterSize = 912,
};

struct Context;
struct Stream;

/// A kernel, as its PTX declares it. Parameters have offsets and bytes.
struct Function {
  std::string name;
  Context *context = nullptr;
  std::string image;
  std::vector<std::pair<size_t, size_t>> parameters;
  unsigned maxThreads = 1024;
  Dim3 requiredBlock{0, 0, 0}, requiredCluster{0, 0, 0};
  unsigned staticShared = 0, maxDynamicShared = 0;
  bool mayExceedPortableCluster = false;
};

struct Module {
  int number;
  Context *context;
  bool isLoaded = true;
  std::vector<std::unique_ptr<Function>> functions;
};

struct Device {
  int major, minor;
  unsigned sharedLimit() const;
};

struct Context {
  int device;
  /// Streams by handle; those that were destroyed stay, to be told of.
  std::unique_ptr<Stream> legacy;
};

/// Work of a graph, in order.
struct Graph {
  std::vector<std::function<void()>> work;
};

/// A capture that is going on, of the stream that began it and those that
/// joined it.
struct Capture {
  uint64_t id;
  Stream *origin;
  int mode;
  uint64_t thread;
  bool isValid = true;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
};

struct Event {
  int number;
  Context *context;
  bool isAlive = true;
  Stream *stream = nullptr;
  uint64_t recorded = 0, done = 0;
  std::shared_ptr<Capture> capture;
};

struct Stream {
  uint64_t id;
  Context *context;
  bool isBlocking = true, isAlive = true;
  std::deque<std::function<void()>> work;
  std::shared_ptr<Capture> capture;
};

struct Allocation {
  int number;
  int device;
  size_t bytes;
  bool isOrdered;
};

/// A launch as the tests see it; `values` are the addresses of parameters.
struct LaunchRecord {
  const char *name, *image;
  unsigned grid[3], block[3], cluster[3];
  unsigned shared;
  int device;
  uint64_t stream;
  unsigned count;
  const uint64_t *sizes;
  const void *const *values;
};

/// Everything. One lock guards it, which is held while work runs.
struct State {
  std::recursive_mutex lock;

  // What tests choose.
  int version = 13000, initCode = 0, retainCode = 0, computeMode = 0;
  bool isLazy = false, isQuiet = false, hasPools = true, reusesHandles = false;
  unsigned delay = 0;
  size_t memory = size_t(1) << 33;
  std::vector<Device> devices = {{9, 0}};
  void (*onLaunch)(const LaunchRecord *) = nullptr;
  std::string failing;
  int failingIn = 0, failingCode = 0;
  int faultOfNextLaunch = 0;

  // What is.
  bool isInitialized = false;
  int fault = 0;
  std::vector<std::string> calls;
  std::map<int, std::unique_ptr<Context>> contexts;
  std::map<void *, std::unique_ptr<Stream>> streams;
  std::map<void *, std::unique_ptr<Event>> events;
  std::map<void *, std::unique_ptr<Module>> modules;
  std::map<void *, Function *> functions;
  std::map<void *, std::shared_ptr<Graph>> graphs, executables;
  std::map<uint64_t, Allocation> allocations;
  std::vector<std::shared_ptr<Capture>> captures;
  size_t liveBytes = 0;
  uint64_t numbered = 0, streamIds = 0, captureIds = 0;
  int moduleNumbers = 0, eventNumbers = 0, allocationNumbers = 0;
};

State &state();

/// Forget everything, and set what `options` says: `version=13000 chips=90,80`.
void reset(const std::string &options);

/// The context that is current to this thread.
Context *&currentContext();

/// How this thread takes the captures of others: 0 global, 1 thread, 2 relaxed.
int &captureMode();

/// Append to the record.
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// `memory 2+16`, the name of an address in the record.
std::string describe(uint64_t address);
std::string describe(void *stream);

/// The allocation that has all of these bytes.
const Allocation *findAllocation(uint64_t address, size_t bytes,
                                 uint64_t *base = nullptr);

/// Reserve memory of a device, full of what no kernel may rely on.
Result allocate(uint64_t *address, size_t bytes, int device, bool isOrdered);
Result release(uint64_t address);

/// The stream of a handle, of the current context where it names a default
/// one; null if it is closed or was never one.
Stream *findStream(void *handle);

/// Run what waits on a stream.
void drain(Stream &stream);

/// Have work run in the order of a stream: now, later, or in a graph.
Result enqueue(Stream &stream, std::function<void()> work);

/// What forbids a call that may synchronize while something is captured.
Result refuseWhileCapturing();

/// Read PTX, or what `cubin` of the tests makes of it, for a device; `log` gets
/// what the assembler says.
Result readCode(const char *image, Module &module, std::string &log);

/// Read a cubin of ptxas for a device.
Result readMachineCode(const char *image, Module &module);

} // namespace stand_in

#endif // STAND_IN_STATE_H
