//===- runtime.cpp - Upstream's GPU runtime without a GPU ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions `mgpu...` that mlir-runner's programs call. Memory of the
// device is a file that another process has at the same addresses, which
// emulates the launches; here nobody can touch it but these functions. Work is
// done when somebody waits for it and not before, so that a missing wait is
// seen.
//
// Environment: WORKGROUP_DEVICE is the descriptor of the file, its address and
// its size; WORKGROUP_LAUNCHES that of a socket. A request is a line, and so is
// the reply; one that begins with "error" ends the process.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace {

[[noreturn]] void fail(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", text.c_str());
  _exit(3);
}

std::string hex(const void *data, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    unsigned byte = static_cast<const unsigned char *>(data)[i];
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Work that waits
//===----------------------------------------------------------------------===//

struct Stream {
  std::vector<std::function<void()>> work;
  size_t done = 0;

  void runUntil(size_t end) {
    while (done < end)
      work[done++]();
  }
  void run() { runUntil(work.size()); }
};

struct Event {
  Stream *stream = nullptr;
  size_t end = 0;

  void wait() const {
    if (stream)
      stream->runUntil(end);
  }
};

struct Function {
  std::string name;
  std::vector<size_t> sizes;
};

struct Module {
  std::string number;
  std::vector<std::unique_ptr<Function>> functions;
};

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

class Device {
public:
  Device() {
    const char *words = std::getenv("WORKGROUP_DEVICE");
    const char *socket = std::getenv("WORKGROUP_LAUNCHES");
    if (!words || !socket)
      fail("WORKGROUP_DEVICE or WORKGROUP_LAUNCHES is not set");
    int file = -1;
    uint64_t address = 0;
    std::istringstream(words) >> file >> address >> bytes;
    server = std::atoi(socket);
    void *got = mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
                     MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    base = static_cast<char *>(got);
    if (base != reinterpret_cast<void *>(address))
      fail("the memory of the device cannot be at its address");
  }

  ~Device() {
    std::ostringstream line;
    line << "end " << live.size() << " " << streams.size() << " "
         << events.size();
    request(line.str());
  }

  std::string request(const std::string &line) {
    dprintf(server, "%s\n", line.c_str());
    std::string reply;
    for (char c; read(server, &c, 1) == 1 && c != '\n';)
      reply += c;
    if (reply.rfind("ok", 0) != 0)
      fail(reply.empty() ? "nobody emulates launches" : reply);
    return reply.substr(2);
  }

  void *allocate(uint64_t size) {
    constexpr size_t alignment = 256;
    if (size > bytes - used)
      fail("the memory of the device is full");
    char *place = base + used;
    used += (size + alignment) / alignment * alignment; // never empty
    live[place] = size;
    mprotect(base, bytes, PROT_READ | PROT_WRITE);
    std::memset(place, 0xA5, size);
    mprotect(base, bytes, PROT_NONE);
    return place;
  }

  void free(void *pointer) {
    if (!live.erase(static_cast<char *>(pointer)))
      fail("mgpuMemFree: memory that is not allocated");
  }

  /// Whether memory is that of the device, of which it has to be allocated.
  bool owns(const void *pointer, size_t size, const char *what) {
    const char *start = static_cast<const char *>(pointer);
    if (start + size <= base || start >= base + bytes)
      return false;
    auto next = live.upper_bound(const_cast<char *>(start));
    if (next != live.begin()) {
      auto [place, length] = *--next;
      if (start >= place && start + size <= place + length)
        return true;
    }
    fail(std::string(what) + ": memory that is not allocated");
  }

  void copy(void *to, const void *from, size_t size) {
    bool isTo = owns(to, size, "mgpuMemcpy");
    bool isFrom = owns(from, size, "mgpuMemcpy");
    mprotect(base, bytes, PROT_READ | PROT_WRITE);
    std::memmove(to, from, size);
    mprotect(base, bytes, PROT_NONE);
    request(std::string("copy ") + (isFrom ? "device" : "host") + " " +
            (isTo ? "device" : "host"));
  }

  template <typename T>
  void fill(void *to, T value, size_t count) {
    if (!owns(to, count * sizeof(T), "mgpuMemset"))
      fail("mgpuMemset: memory of the host");
    mprotect(base, bytes, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(static_cast<char *>(to) + i * sizeof(T), &value, sizeof(T));
    mprotect(base, bytes, PROT_NONE);
  }

  void launch(const std::string &line) {
    std::ostringstream text;
    text << line;
    for (auto [place, size] : live)
      text << " " << reinterpret_cast<uint64_t>(place) << ":" << size;
    request(text.str());
  }

  Stream *find(void *stream, const char *what) {
    auto *found = static_cast<Stream *>(stream);
    if (!streams.count(found))
      fail(std::string(what) + ": a stream that there is not");
    return found;
  }

  Event *findEvent(void *event, const char *what) {
    auto *found = static_cast<Event *>(event);
    if (!events.count(found))
      fail(std::string(what) + ": an event that there is not");
    return found;
  }

  std::set<Stream *> streams;
  std::set<Event *> events;

private:
  int server = -1;
  char *base = nullptr;
  size_t bytes = 0, used = 0;
  std::map<char *, size_t> live;
};

Device &device() {
  static Device one;
  return one;
}

} // namespace

//===----------------------------------------------------------------------===//
// What programs call
//===----------------------------------------------------------------------===//

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void *mgpuStreamCreate() {
  auto *stream = new Stream;
  device().streams.insert(stream);
  return stream;
}

EXPORT void mgpuStreamSynchronize(void *stream) {
  device().find(stream, "mgpuStreamSynchronize")->run();
}

EXPORT void mgpuStreamDestroy(void *stream) {
  Stream *found = device().find(stream, "mgpuStreamDestroy");
  if (found->done != found->work.size())
    fail("mgpuStreamDestroy: nobody has waited for its work");
  device().streams.erase(found);
  for (Event *event : device().events)
    if (event->stream == found)
      event->stream = nullptr;
  delete found;
}

EXPORT void mgpuStreamWaitEvent(void *stream, void *event) {
  Event copy = *device().findEvent(event, "mgpuStreamWaitEvent");
  device().find(stream, "mgpuStreamWaitEvent")->work.push_back([copy] {
    copy.wait();
  });
}

EXPORT void *mgpuEventCreate() {
  auto *event = new Event;
  device().events.insert(event);
  return event;
}

EXPORT void mgpuEventDestroy(void *event) {
  Event *found = device().findEvent(event, "mgpuEventDestroy");
  device().events.erase(found);
  delete found;
}

EXPORT void mgpuEventSynchronize(void *event) {
  device().findEvent(event, "mgpuEventSynchronize")->wait();
}

EXPORT void mgpuEventRecord(void *event, void *stream) {
  Stream *found = device().find(stream, "mgpuEventRecord");
  *device().findEvent(event, "mgpuEventRecord") = {found, found->work.size()};
}

EXPORT void *mgpuMemAlloc(uint64_t size, void *stream, bool isHostShared) {
  device().find(stream, "mgpuMemAlloc");
  if (isHostShared)
    fail("mgpuMemAlloc: memory that the host shares");
  return device().allocate(size);
}

EXPORT void mgpuMemFree(void *pointer, void *stream) {
  device().find(stream, "mgpuMemFree")->work.push_back([pointer] {
    device().free(pointer);
  });
}

EXPORT void mgpuMemcpy(void *to, void *from, size_t size, void *stream) {
  device().find(stream, "mgpuMemcpy")->work.push_back([=] {
    device().copy(to, from, size);
  });
}

EXPORT void mgpuMemset32(void *to, unsigned value, size_t count, void *stream) {
  device().find(stream, "mgpuMemset32")->work.push_back([=] {
    device().fill(to, static_cast<uint32_t>(value), count);
  });
}

EXPORT void mgpuMemset16(void *to, unsigned short value, size_t count,
                         void *stream) {
  device().find(stream, "mgpuMemset16")->work.push_back([=] {
    device().fill(to, static_cast<uint16_t>(value), count);
  });
}

EXPORT void *mgpuModuleLoadJIT(void *data, int) {
  auto *text = static_cast<const char *>(data);
  auto *module = new Module;
  module->number = device().request("load " + hex(text, std::strlen(text)));
  return module;
}

EXPORT void mgpuModuleUnload(void *module) {
  delete static_cast<Module *>(module);
}

EXPORT void *mgpuModuleGetFunction(void *module, const char *name) {
  auto *found = static_cast<Module *>(module);
  auto function = std::make_unique<Function>();
  function->name = found->number + " " + name;
  std::istringstream sizes(device().request("function" + function->name));
  for (size_t size; sizes >> size;)
    function->sizes.push_back(size);
  found->functions.push_back(std::move(function));
  return found->functions.back().get();
}

EXPORT void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                             intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                             intptr_t blockZ, int32_t shared, void *stream,
                             void **parameters, void **extra, size_t count) {
  const Function &kernel = *static_cast<Function *>(function);
  if (extra || count != kernel.sizes.size())
    fail("mgpuLaunchKernel:" + kernel.name + " takes other parameters");
  std::ostringstream line;
  line << "launch" << kernel.name;
  for (int64_t extent : {gridX, gridY, gridZ, blockX, blockY, blockZ})
    line << " " << extent;
  line << " " << shared << " " << count;
  for (size_t i = 0; i < count; ++i)
    line << " " << hex(parameters[i], kernel.sizes[i]);
  device()
      .find(stream, "mgpuLaunchKernel")
      ->work.push_back([text = line.str()] { device().launch(text); });
}
