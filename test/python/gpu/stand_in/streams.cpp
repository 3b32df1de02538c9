//===- streams.cpp - Streams, graphs, launches ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls on streams, events, captures, graphs, and launches.
//
//===----------------------------------------------------------------------===//

#include "call.h"

#include <algorithm>
#include <functional>

using namespace stand_in;

API cuStreamCreate(void **handle, unsigned flags) {
  BEGIN(Context, " %u", flags);
  if (flags > 1)
    return InvalidValue;
  if (state().reusesHandles)
    for (auto &[closed, stream] : state().streams)
      if (!stream->isAlive && stream->context == currentContext()) {
        stream->isAlive = true;
        stream->id = ++state().streamIds;
        *handle = closed;
        return Success;
      }
  auto made = std::make_unique<Stream>();
  made->id = ++state().streamIds;
  made->context = currentContext();
  made->isBlocking = flags == 0;
  *handle = made.get();
  state().streams[made.get()] = std::move(made);
  return Success;
}

API cuStreamDestroy_v2(void *handle) {
  BEGIN(Context, " %s", describe(handle).c_str());
  if (reinterpret_cast<uintptr_t>(handle) <= 2)
    return InvalidHandle;
  FIND_STREAM(stream, handle);
  if (stream->capture)
    return CaptureUnsupported;
  drain(*stream);
  stream->isAlive = false;
  return Success;
}

API cuStreamSynchronize(void *handle) {
  BEGIN(Context, " %s", describe(handle).c_str());
  FIND_STREAM(stream, handle);
  if (stream->capture) {
    stream->capture->isValid = false;
    return CaptureUnsupported;
  }
  if (int code = enqueue(*stream, [] {}))
    return code;
  drain(*stream);
  return state().fault;
}

API cuCtxSynchronize() {
  BEGIN(Context, "");
  for (auto &capture : state().captures)
    if (capture->origin->context == currentContext()) {
      capture->isValid = false;
      return CaptureUnsupported;
    }
  for (auto &[handle, stream] : state().streams)
    drain(*stream);
  if (currentContext()->legacy)
    drain(*currentContext()->legacy);
  return state().fault;
}

API cuStreamGetId(void *handle, unsigned long long *id) {
  BEGIN(Context, " %s", describe(handle).c_str());
  FIND_STREAM(stream, handle);
  *id = stream->id;
  return Success;
}

API cuStreamGetCtx(void *handle, void **context) {
  BEGIN(Context, " %s", describe(handle).c_str());
  FIND_STREAM(stream, handle);
  *context = stream->context;
  return Success;
}

/// What a capture forbids to ask about the legacy stream.
static Result refuseImplicit(const Stream &stream) {
  if (stream.context->legacy.get() == &stream)
    for (const auto &capture : state().captures)
      if (capture->origin->isBlocking &&
          capture->origin->context == stream.context)
        return CaptureImplicit;
  return Success;
}

static int captureStatus(const Stream &stream) {
  return !stream.capture ? 0 : stream.capture->isValid ? 1 : 2;
}

API cuStreamIsCapturing(void *handle, int *status) {
  BEGIN(Context, " %s", describe(handle).c_str());
  FIND_STREAM(stream, handle);
  if (Result code = refuseImplicit(*stream))
    return code;
  *status = captureStatus(*stream);
  return Success;
}

static int getCapture(void *handle, int *status, uint64_t *id) {
  FIND_STREAM(stream, handle);
  if (Result code = refuseImplicit(*stream))
    return code;
  *status = captureStatus(*stream);
  if (id)
    *id = stream->capture ? stream->capture->id : 0xdead; // it says nothing
  return Success;
}

API cuStreamGetCaptureInfo_v2(void *handle, int *status, uint64_t *id,
                              void **graph, const void **dependencies,
                              size_t *count) {
  BEGIN(Context, " %s", describe(handle).c_str());
  if (graph)
    *graph = nullptr;
  if (dependencies)
    *dependencies = nullptr;
  if (count)
    *count = 0;
  return getCapture(handle, status, id);
}

API cuStreamGetCaptureInfo_v3(void *handle, int *status, uint64_t *id,
                              void **graph, const void **dependencies,
                              const void **edges, size_t *count) {
  BEGIN(Context, " %s", describe(handle).c_str());
  if (graph)
    *graph = nullptr;
  if (dependencies)
    *dependencies = nullptr;
  if (edges)
    *edges = nullptr;
  if (count)
    *count = 0;
  return getCapture(handle, status, id);
}

API cuStreamBeginCapture_v2(void *handle, int mode) {
  BEGIN(Context, " %s mode %d", describe(handle).c_str(), mode);
  FIND_STREAM(stream, handle);
  bool isDefault = stream->context->legacy.get() == stream;
  if (mode < 0 || mode > 2)
    return InvalidValue;
  if (isDefault || stream->capture)
    return CaptureUnsupported;
  auto made = std::make_shared<Capture>();
  made->id = ++state().captureIds;
  made->origin = stream;
  made->mode = mode;
  made->thread = std::hash<std::thread::id>()(std::this_thread::get_id());
  stream->capture = made;
  state().captures.push_back(std::move(made));
  return Success;
}

API cuStreamEndCapture(void *handle, void **graph) {
  BEGIN(Context, " %s", describe(handle).c_str());
  FIND_STREAM(stream, handle);
  *graph = nullptr;
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return InvalidValue;
  if (capture->origin != stream)
    return CaptureUnmatched;
  for (auto &[other, joined] : state().streams)
    if (joined->capture == capture)
      joined->capture.reset();
  auto &captures = state().captures;
  captures.erase(std::remove(captures.begin(), captures.end(), capture),
                 captures.end());
  if (!capture->isValid)
    return CaptureInvalidated;
  *graph = capture->graph.get();
  state().graphs[*graph] = capture->graph;
  return Success;
}

API cuGraphInstantiateWithFlags(void **executable, void *graph, uint64_t) {
  BEGIN(Context, "");
  auto found = state().graphs.find(graph);
  if (found == state().graphs.end())
    return InvalidHandle;
  auto made = std::make_shared<Graph>(*found->second);
  *executable = made.get();
  state().executables[made.get()] = std::move(made);
  return Success;
}

API cuGraphLaunch(void *executable, void *handle) {
  BEGIN(Context, " on %s", describe(handle).c_str());
  FIND_STREAM(stream, handle);
  auto found = state().executables.find(executable);
  if (found == state().executables.end())
    return InvalidHandle;
  return enqueue(*stream, [graph = found->second] {
    for (auto &work : graph->work)
      work();
  });
}

API cuGraphDestroy(void *graph) {
  BEGIN(Initialization, "");
  return state().graphs.erase(graph) ? Success : InvalidHandle;
}

API cuGraphExecDestroy(void *executable) {
  BEGIN(Initialization, "");
  return state().executables.erase(executable) ? Success : InvalidHandle;
}

// --- events -----------------------------------------------------------------

API cuEventCreate(void **handle, unsigned flags) {
  BEGIN(Context, " %u", flags);
  if (flags > 7)
    return InvalidValue;
  auto made = std::make_unique<Event>();
  made->number = ++state().eventNumbers;
  made->context = currentContext();
  *handle = made.get();
  state().events[made.get()] = std::move(made);
  return Success;
}

static Event *findEvent(void *handle) {
  auto found = state().events.find(handle);
  bool isAlive = found != state().events.end() && found->second->isAlive;
  return isAlive ? found->second.get() : nullptr;
}

API cuEventDestroy_v2(void *handle) {
  BEGIN(Context, "");
  Event *event = findEvent(handle);
  if (!event)
    return InvalidHandle;
  event->isAlive = false;
  return Success;
}

API cuEventRecord(void *handle, void *streamHandle) {
  Event *event = findEvent(handle);
  BEGIN(Context, " e%d on %s", event ? event->number : 0,
        describe(streamHandle).c_str());
  FIND_STREAM(stream, streamHandle);
  if (!event || event->context != stream->context)
    return InvalidHandle;
  event->capture = stream->capture;
  if (stream->capture)
    return stream->capture->isValid ? Success : CaptureInvalidated;
  event->stream = stream;
  uint64_t count = ++event->recorded;
  return enqueue(*stream, [=] { event->done = count; });
}

API cuStreamWaitEvent(void *streamHandle, void *handle, unsigned flags) {
  Event *event = findEvent(handle);
  BEGIN(Context, " %s e%d", describe(streamHandle).c_str(),
        event ? event->number : 0);
  FIND_STREAM(stream, streamHandle);
  if (!event || flags)
    return InvalidHandle;
  if (event->capture && event->capture->isValid) {
    if (stream->capture && stream->capture != event->capture)
      return 905; // CAPTURE_ISOLATION: two captures would be merged
    stream->capture = event->capture;
    return Success;
  }
  if (stream->capture) {
    stream->capture->isValid = false;
    return 905;
  }
  uint64_t count = event->recorded;
  return enqueue(*stream, [=] {
    while (event->done < count && !event->stream->work.empty()) {
      auto work = std::move(event->stream->work.front());
      event->stream->work.pop_front();
      work();
    }
  });
}

API cuEventSynchronize(void *handle) {
  BEGIN(Context, "");
  Event *event = findEvent(handle);
  if (!event)
    return InvalidHandle;
  if (event->capture)
    return 907; // CAPTURED_EVENT
  if (event->stream)
    drain(*event->stream);
  return state().fault;
}

// --- launches ---------------------------------------------------------------

static bool isEqual(Dim3 a, Dim3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

static Result refuseCluster(const Function &function, const Device &device,
                            Dim3 grid, Dim3 cluster) {
  if (function.requiredCluster.x && cluster.x &&
      !isEqual(function.requiredCluster, cluster))
    return InvalidValue;
  Dim3 all = cluster.x ? cluster : function.requiredCluster;
  if (!all.x)
    return Success;
  if (!all.y || !all.z || device.major < 9 || grid.x % all.x ||
      grid.y % all.y || grid.z % all.z)
    return InvalidValue;
  unsigned blocks = all.x * all.y * all.z;
  return blocks > (function.mayExceedPortableCluster ? 16 : 8)
             ? InvalidClusterSize
             : Success;
}

/// What the hardware or the code of a kernel does not take.
static Result refuseSizes(const Function &function, Dim3 grid, Dim3 block,
                          Dim3 cluster, unsigned shared) {
  const Device &device = state().devices[size_t(function.context->device)];
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z ||
      grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535 ||
      block.x > 1024 || block.y > 1024 || block.z > 64)
    return InvalidValue;
  if (uint64_t(block.x) * block.y * block.z > function.maxThreads)
    return InvalidValue;
  if (function.requiredBlock.x && !isEqual(function.requiredBlock, block))
    return InvalidValue;
  if (shared > function.maxDynamicShared ||
      function.staticShared + shared > device.sharedLimit())
    return InvalidValue;
  return refuseCluster(function, device, grid, cluster);
}

/// A launch with the values that its parameters had.
struct Launch {
  std::string name, image;
  Dim3 grid, block, cluster;
  unsigned shared;
  int device;
  uint64_t stream;
  std::vector<uint64_t> sizes;
  std::vector<std::vector<char>> values;

  void run() const {
    if (!state().onLaunch)
      return;
    // Tensor maps have to be on 64 bytes, as the hardware has them.
    std::vector<std::vector<char>> room;
    std::vector<const void *> pointers;
    for (const std::vector<char> &value : values) {
      std::vector<char> &aligned = room.emplace_back(value.size() + 64);
      auto start = reinterpret_cast<uintptr_t>(aligned.data());
      char *at = aligned.data() + (64 - start % 64) % 64;
      memcpy(at, value.data(), value.size());
      pointers.push_back(at);
    }
    LaunchRecord record = {
        name.c_str(),
        image.c_str(),
        {grid.x, grid.y, grid.z},
        {block.x, block.y, block.z},
        {cluster.x, cluster.y, cluster.z},
        shared,
        device,
        stream,
        unsigned(sizes.size()),
        sizes.data(),
        pointers.data(),
    };
    state().onLaunch(&record);
  }
};

static int launch(Function *function, Dim3 grid, Dim3 block, Dim3 cluster,
                  unsigned shared, void *handle, void **parameters,
                  void **extra) {
  State &s = state();
  FIND_STREAM(stream, handle);
  if (!function || stream->context != function->context ||
      function->context != currentContext())
    return InvalidHandle;
  if (Result code = refuseSizes(*function, grid, block, cluster, shared))
    return code;
  if (extra || (!parameters && !function->parameters.empty()))
    return InvalidValue;
  Launch made = {function->name,
                 function->image,
                 grid,
                 block,
                 cluster.x ? cluster : function->requiredCluster,
                 shared,
                 function->context->device,
                 stream->id,
                 {},
                 {}};
  for (size_t i = 0; i < function->parameters.size(); ++i) {
    if (!parameters[i])
      return InvalidValue;
    size_t bytes = function->parameters[i].second;
    const char *value = static_cast<const char *>(parameters[i]);
    made.sizes.push_back(bytes);
    made.values.emplace_back(value, value + bytes);
  }
  int fault = s.faultOfNextLaunch;
  s.faultOfNextLaunch = 0;
  return enqueue(*stream, [made = std::move(made), fault] {
    if (fault)
      state().fault = fault;
    else
      made.run();
  });
}

static Function *find(void *handle) {
  auto found = state().functions.find(handle);
  return found == state().functions.end() ? nullptr : found->second;
}

API cuLaunchKernelEx(const LaunchConfig *config, void *handle,
                     void **parameters, void **extra) {
  if (state().isQuiet && state().isInitialized)
    return Success; // Benchmarks measure the caller.
  Function *function = find(handle);
  Dim3 cluster{0, 0, 0}, grid = config->grid, block = config->block;
  for (unsigned i = 0; i < config->numAttributes; ++i)
    if (config->attributes[i].id == 4) // CLUSTER_DIMENSION
      cluster = config->attributes[i].value.clusterDim;
  BEGIN(Context,
        " %s grid %u,%u,%u block %u,%u,%u cluster %u,%u,%u shared %u on %s",
        function ? function->name.c_str() : "nothing", grid.x, grid.y, grid.z,
        block.x, block.y, block.z, cluster.x, cluster.y, cluster.z,
        config->sharedMemBytes, describe(config->stream).c_str());
  return launch(function, grid, block, cluster, config->sharedMemBytes,
                config->stream, parameters, extra);
}

API cuLaunchKernel(void *handle, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ,
                   unsigned shared, void *stream, void **parameters,
                   void **extra) {
  Function *function = find(handle);
  BEGIN(Context, " %s grid %u,%u,%u block %u,%u,%u shared %u on %s",
        function ? function->name.c_str() : "nothing", gridX, gridY, gridZ,
        blockX, blockY, blockZ, shared, describe(stream).c_str());
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                {0, 0, 0}, shared, stream, parameters, extra);
}
