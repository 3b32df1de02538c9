//===- state.cpp - Order, memory and record -------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices, memory, the order of streams, captures, and the record.
//
//===----------------------------------------------------------------------===//

#include "state.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <thread>

using namespace stand_in;

unsigned Device::sharedLimit() const {
  int chip = major * 10 + minor;
  bool isSmall = chip == 86 || chip == 89 || major == 12;
  return isSmall ? 101376 : chip < 90 ? 166912 : 232448;
}

State &stand_in::state() {
  // Never destroyed: threads may still be in a call when the process ends.
  static State *single = [] {
    auto *made = new State;
    return made;
  }();
  return *single;
}

Context *&stand_in::currentContext() {
  thread_local Context *current = nullptr;
  return current;
}

int &stand_in::captureMode() {
  thread_local int mode = 0;
  return mode;
}

static void forget(State &s) {
  for (auto &[address, allocation] : s.allocations)
    free(reinterpret_cast<void *>(address));
  s.allocations.clear();
  s.liveBytes = 0;
  s.calls.clear();
  s.failing.clear();
  s.failingIn = s.faultOfNextLaunch = s.fault = 0;
  s.isInitialized = false;
  // Handles are not reused, so that what is dead is known to be.
  static auto *dead = new std::vector<std::unique_ptr<Context>>;
  for (auto &[device, context] : s.contexts)
    dead->push_back(std::move(context));
  s.contexts.clear();
  for (auto &[handle, stream] : s.streams) {
    stream->isAlive = false;
    stream->work.clear();
    stream->capture.reset();
  }
  for (auto &[handle, module] : s.modules)
    module->isLoaded = false;
  for (auto &[handle, event] : s.events)
    event->isAlive = false;
  s.functions.clear();
  s.graphs.clear();
  s.executables.clear();
  s.captures.clear();
  s.streamIds = s.captureIds = 0;
  s.moduleNumbers = s.eventNumbers = s.allocationNumbers = 0;
}

static void set(State &s, const std::string &name, const std::string &value) {
  int number = atoi(value.c_str());
  if (name == "version")
    s.version = number;
  else if (name == "init")
    s.initCode = number;
  else if (name == "retain")
    s.retainCode = number;
  else if (name == "mode")
    s.computeMode = number;
  else if (name == "lazy")
    s.isLazy = number;
  else if (name == "quiet")
    s.isQuiet = number;
  else if (name == "reuse")
    s.reusesHandles = number;
  else if (name == "pools")
    s.hasPools = number;
  else if (name == "delay")
    s.delay = unsigned(number);
  else if (name == "memory")
    s.memory = size_t(atoll(value.c_str()));
  else if (name == "chips") {
    s.devices.clear();
    std::stringstream chips(value);
    for (std::string chip; std::getline(chips, chip, ',');)
      s.devices.push_back({atoi(chip.c_str()) / 10, atoi(chip.c_str()) % 10});
  } else {
    fprintf(stderr, "the stand-in has no option %s\n", name.c_str());
    abort();
  }
}

void stand_in::reset(const std::string &options) {
  State &s = state();
  std::lock_guard<std::recursive_mutex> guard(s.lock);
  forget(s);
  captureMode() = 0;
  s.version = 13000;
  s.initCode = s.retainCode = s.computeMode = 0;
  s.isLazy = s.isQuiet = s.reusesHandles = false;
  s.hasPools = true;
  s.delay = 0;
  s.memory = size_t(1) << 33;
  s.devices = {{9, 0}};
  s.onLaunch = nullptr;
  std::stringstream words(options);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    set(s, word.substr(0, equals), word.substr(equals + 1));
  }
}

void stand_in::note(const char *format, ...) {
  State &s = state();
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  s.calls.emplace_back(text);
}

std::string stand_in::describe(uint64_t address) {
  uint64_t base = 0;
  const Allocation *found = findAllocation(address, 0, &base);
  if (!found)
    return "nothing";
  std::string name = "memory " + std::to_string(found->number);
  return address == base ? name : name + "+" + std::to_string(address - base);
}

std::string stand_in::describe(void *stream) {
  auto found = state().streams.find(stream);
  if (found == state().streams.end())
    return std::to_string(reinterpret_cast<uintptr_t>(stream));
  return "s" + std::to_string(found->second->id);
}

// --- memory -----------------------------------------------------------------

const Allocation *stand_in::findAllocation(uint64_t address, size_t bytes,
                                           uint64_t *base) {
  auto &allocations = state().allocations;
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  auto &[start, allocation] = *std::prev(after);
  uint64_t offset = address - start;
  // Written so that sums do not overflow.
  if (offset > allocation.bytes || bytes > allocation.bytes - offset ||
      (offset == allocation.bytes && bytes == 0))
    return nullptr;
  if (base)
    *base = start;
  return &allocation;
}

Result stand_in::allocate(uint64_t *address, size_t bytes, int device,
                          bool isOrdered) {
  State &s = state();
  if (!bytes || !address)
    return InvalidValue;
  if (bytes > s.memory - std::min(s.memory, s.liveBytes))
    return OutOfMemory;
  size_t rounded = (bytes + 511) / 512 * 512;
  void *memory = aligned_alloc(512, rounded);
  if (!memory)
    return OutOfMemory;
  memset(memory, 0xA5, rounded);
  *address = reinterpret_cast<uintptr_t>(memory);
  s.allocations[*address] = {++s.allocationNumbers, device, bytes, isOrdered};
  s.liveBytes += bytes;
  return Success;
}

Result stand_in::release(uint64_t address) {
  State &s = state();
  auto found = s.allocations.find(address);
  if (found == s.allocations.end())
    return InvalidValue;
  s.liveBytes -= found->second.bytes;
  memset(reinterpret_cast<void *>(address), 0xDD, found->second.bytes);
  free(reinterpret_cast<void *>(address));
  s.allocations.erase(found);
  return Success;
}

// --- streams ----------------------------------------------------------------

Stream *stand_in::findStream(void *handle) {
  State &s = state();
  // 0 and 1 are the legacy default stream, 2 is that of the thread.
  auto number = reinterpret_cast<uintptr_t>(handle);
  if (number == 2) {
    thread_local std::map<Context *, Stream *> own;
    Stream *&stream = own[currentContext()];
    if (!stream || !stream->isAlive) {
      auto made = std::make_unique<Stream>();
      stream = made.get();
      stream->id = ++s.streamIds;
      stream->context = currentContext();
      s.streams[made.get()] = std::move(made);
    }
    return stream;
  }
  if (number < 2) {
    Context *context = currentContext();
    if (!context->legacy) {
      context->legacy = std::make_unique<Stream>();
      context->legacy->id = ++s.streamIds;
      context->legacy->context = context;
    }
    return context->legacy.get();
  }
  auto found = s.streams.find(handle);
  if (found == s.streams.end() || !found->second->isAlive)
    return nullptr;
  return found->second.get();
}

void stand_in::drain(Stream &stream) {
  while (!stream.work.empty()) {
    auto work = std::move(stream.work.front());
    stream.work.pop_front();
    work();
  }
}

/// Whether a capture forbids work on the legacy stream of its context, which
/// would have to wait for it.
static bool isBlockedByCapture(const Stream &stream) {
  for (const auto &capture : state().captures)
    if (capture->origin->isBlocking &&
        capture->origin->context == stream.context)
      return true;
  return false;
}

Result stand_in::enqueue(Stream &stream, std::function<void()> work) {
  State &s = state();
  if (stream.capture) {
    if (!stream.capture->isValid)
      return CaptureInvalidated;
    stream.capture->graph->work.push_back(std::move(work));
    return Success;
  }
  bool isLegacy = stream.context->legacy.get() == &stream;
  if (isLegacy && isBlockedByCapture(stream)) {
    for (auto &capture : s.captures)
      capture->isValid = false;
    return CaptureImplicit;
  }
  // The legacy stream and those that block wait for each other.
  if (isLegacy) {
    for (auto &[handle, other] : s.streams)
      if (other->isAlive && other->isBlocking &&
          other->context == stream.context)
        drain(*other);
  } else if (stream.isBlocking && stream.context->legacy) {
    drain(*stream.context->legacy);
  }
  stream.work.push_back(std::move(work));
  if (!s.isLazy)
    drain(stream);
  return Success;
}

Result stand_in::refuseWhileCapturing() {
  State &s = state();
  if (captureMode() == 2)
    return Success;
  uint64_t self = std::hash<std::thread::id>()(std::this_thread::get_id());
  bool isRefused = false;
  for (auto &capture : s.captures) {
    bool isOfThread = capture->thread == self && capture->mode != 2;
    bool isOfOthers = capture->mode == 0 && captureMode() == 0;
    if (isOfThread || isOfOthers) {
      capture->isValid = false;
      isRefused = true;
    }
  }
  return isRefused ? CaptureUnsupported : Success;
}
