//===- Warpgroups.cpp - What four warps do together -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product is executed at once, but holds what it reads, and its registers,
// until its group is waited for.
//
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup::emulator {

Warpgroups::Warpgroups(Launch &launch, BlockState &block,
                       FindingCollector &findings, AccessChecker &memory)
    : launch(launch), tables(launch.tables), block(block), findings(findings),
      memory(memory), registers(launch, block, findings),
      warpsPerBlock(llvm::divideCeil(block.getThreadsPerBlock(), kWarpSize)),
      teamsPerBlock(llvm::divideCeil(warpsPerBlock, kGroupWarps)),
      warps(block.getNumBlocks() * warpsPerBlock),
      teams(block.getNumBlocks() * teamsPerBlock),
      lastUses(block.threads.size() * tables.numProducts) {}

void Warpgroups::beginBlock() {
  registers.beginBlock();
  if (!tables.hasWarpgroups)
    return;
  std::fill(warps.begin(), warps.end(), Warp());
  std::fill(teams.begin(), teams.end(), Team());
  std::fill(lastUses.begin(), lastUses.end(), 0);
}

llvm::ArrayRef<unsigned> Warpgroups::getThreads(unsigned warp) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    members[lane] = warp * kWarpSize + lane;
  return members;
}

//===----------------------------------------------------------------------===//
// Four warps
//===----------------------------------------------------------------------===//

Warpgroups::Step Warpgroups::makeStep(unsigned warp,
                                      const Operation &operation) const {
  Step step{&operation, {}, warp};
  const ThreadState &thread = block.threads[warp * kWarpSize];
  const WarpgroupOp &op = *operation.warpgroup;
  if (op.kind != WarpgroupOp::Kind::Multiply)
    return step;
  if (!op.product.hasFragmentA)
    step.values[0] = getWide(thread, 0);
  step.values[1] = getWide(thread, op.product.getRegisterOfB());
  step.values[2] = thread.registers[op.product.getRegisterOfScale()] != 0;
  return step;
}

void Warpgroups::reportStep(const Step &theirs, const Step &own) {
  FindingInstance instance =
      findings.makeInstance(block.threads[own.warp * kWarpSize]);
  instance.otherThread = block.threads[theirs.warp * kWarpSize].local;
  instance.notes.push_back(makeNote(
      theirs.operation == own.operation
          ? "their descriptors, or whether they read D, differ"
          : "that is what comes next for either of two warps of a warpgroup"));
  findings.add(
      {FindingKind::Warpgroup, own.operation->site, theirs.operation->site},
      std::move(instance));
}

/// Tells of a warp that does not do what the others of its warpgroup do.
void Warpgroups::checkStep(unsigned warp, const Operation &operation) {
  Team &team = teams[getTeam(warp)];
  unsigned first = warp - getLocal(warp) % kGroupWarps;
  if (getLocal(first) + kGroupWarps > warpsPerBlock) {
    findings.report(block.threads[warp * kWarpSize], FindingKind::Warpgroup,
                    operation.site,
                    {makeNote("the block has " + std::to_string(warpsPerBlock) +
                              " warps; a warpgroup is four of them, the first "
                              "of a number that is a multiple of four")});
    return;
  }
  Step own = makeStep(warp, operation);
  uint64_t place = warps[warp].numSteps++ - team.first;
  if (place == team.steps.size())
    team.steps.push_back(own);
  else if (const Step &theirs = team.steps[place];
           theirs.operation != own.operation || theirs.values != own.values)
    reportStep(theirs, own);
  auto isOver = [&](const Warp &each) { return each.numSteps > team.first; };
  while (
      !team.steps.empty() &&
      llvm::all_of(llvm::ArrayRef(warps).slice(first, kGroupWarps), isOver)) {
    team.steps.pop_front();
    ++team.first;
  }
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void Warpgroups::useRegisters(const ThreadState &thread, uint32_t number) {
  const RegisterUse &use = tables.registerUses[number];
  for (unsigned product : use.next.set_bits())
    getLastUse(thread.linear, product) = number + 1;
  if (use.products.none())
    return;
  auto check = [&](const Group &group) {
    for (const Operation *product : group.products)
      if (use.products.test(product->product))
        findings.add({FindingKind::RegistersInUse, use.site, product->site},
                     findings.makeInstance(thread));
  };
  const Warp &warp = warps[thread.linear / kWarpSize];
  check(warp.open);
  for (const Group &group : warp.groups)
    check(group);
}

void Warpgroups::reportFence(const ThreadState &thread,
                             const Operation &operation, uint32_t use) {
  uint32_t other = use ? tables.registerUses[use - 1].site : 0;
  FindingInstance instance = findings.makeInstance(thread);
  findings.add({FindingKind::RegisterFence, operation.site, other},
               std::move(instance));
}

/// Tells of registers that were touched since the last fence, or of none ever.
void Warpgroups::checkRegisters(unsigned warp, const Operation &operation) {
  if (!warps[warp].hasFence)
    return reportFence(block.threads[warp * kWarpSize], operation, 0);
  for (unsigned thread : getThreads(warp))
    if (uint32_t use = getLastUse(thread, operation.product))
      return reportFence(block.threads[thread], operation, use);
}

void Warpgroups::fence(unsigned warp) {
  warps[warp].hasFence = true;
  for (unsigned thread : getThreads(warp))
    std::fill_n(lastUses.begin() + size_t(thread) * tables.numProducts,
                tables.numProducts, 0);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// False, after a finding, if a descriptor is none that can be read by.
bool Warpgroups::checkDescriptors(const ThreadState &thread,
                                  const Operation &operation) {
  const WgmmaOp &op = operation.warpgroup->product;
  for (bool isB : {false, true}) {
    if (!isB && op.hasFragmentA)
      continue;
    auto descriptor = MatrixDescriptor::decode(
        getWide(thread, isB ? op.getRegisterOfB() : 0));
    if (descriptor.baseOffset == 0)
      continue;
    findings.giveUp(thread, FindingKind::MatrixDescriptor, operation.site,
                    {makeNote(std::string("that of ") + (isB ? "B" : "A") +
                              " has a base offset of " +
                              std::to_string(descriptor.baseOffset) +
                              ", which the emulator does not know; let tiles "
                              "begin where their swizzle repeats")});
    return false;
  }
  return true;
}

/// Tells of a chunk that a copy in bulk has swizzled otherwise than the product
/// takes it to be.
void Warpgroups::checkLayout(const ThreadState &thread, uint64_t address,
                             uint32_t site, unsigned swizzle) {
  Access write = memory.getLastWrite(address);
  if (!write.isByAgent() || block.clocks.isStale(write))
    return;
  std::optional<unsigned> theirs = memory.getSwizzle(write.getSite());
  if (!theirs || *theirs == swizzle)
    return;
  auto print = [](unsigned swizzle) {
    return swizzle ? "a swizzle of " + std::to_string(16 << swizzle) + " bytes"
                   : std::string("no swizzle");
  };
  memory.addConflict(thread,
                     {FindingKind::MatrixDescriptor,
                      write,
                      {},
                      false,
                      "the copy has laid it out with " + print(*theirs) +
                          ", and the descriptor is of " + print(swizzle)},
                     address, site, MatrixDescriptor::kChunk);
}

const uint8_t *Warpgroups::read(unsigned warp, const Operation &operation,
                                bool isB, uint64_t place, unsigned knower) {
  constexpr unsigned kBytes = MatrixDescriptor::kChunk;
  const ThreadState &thread = block.threads[warp * kWarpSize];
  uint32_t site = operation.accessSite + isB;
  memory.markReached(site);
  if (!memory.checkShared(thread, place, site, kBytes))
    return nullptr;
  if (launch.checksRaces()) {
    const WgmmaOp &op = operation.warpgroup->product;
    Access agent = *warps[warp].open.agent;
    memory.accessInBulk(thread, AccessKind::Read,
                        Access::make(agent.time, agent.getActor(), site,
                                     /*isAsync=*/true),
                        place, site, kBytes, knower);
    checkLayout(
        thread, place, site,
        MatrixDescriptor::decode(getWide(thread, isB ? op.getRegisterOfB() : 0))
            .swizzle);
  }
  return block.window + place;
}

void Warpgroups::multiply(unsigned warp, const Operation &operation) {
  ThreadState *threads = &block.threads[warp * kWarpSize];
  if (!checkDescriptors(*threads, operation))
    return;
  Group &group = warps[warp].open;
  unsigned knower = 0;
  if (launch.checksRaces()) {
    checkRegisters(warp, operation);
    knower = block.clocks.meet(getThreads(warp));
    if (!group.agent)
      group.agent =
          block.clocks.beginAgent(threads->linear, operation.accessSite);
  }
  group.products.push_back(&operation);
  uint32_t *held[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    held[lane] = threads[lane].registers;
  operation.warpgroup->product.execute(
      getLocal(warp) % kGroupWarps, held, [&](bool isB, uint64_t address) {
        return read(warp, operation, isB, getPlace(*threads, address), knower);
      });
  if (launch.checksRaces())
    for (unsigned thread : getThreads(warp))
      for (unsigned next :
           tables.registerUses[operation.registerUse].next.set_bits())
        getLastUse(thread, next) = operation.registerUse + 1;
}

void Warpgroups::wait(unsigned warp, uint64_t newerGroups) {
  std::deque<Group> &groups = warps[warp].groups;
  for (; groups.size() > newerGroups; groups.pop_front())
    if (groups.front().agent)
      for (unsigned thread : getThreads(warp))
        block.clocks.learn(thread, *groups.front().agent);
}

void Warpgroups::execute(unsigned warp, uint32_t lanes,
                         const Operation &operation) {
  using Kind = WarpgroupOp::Kind;
  const ThreadState &thread = block.threads[warp * kWarpSize];
  if (lanes != ~0u) { // it has no meaning without all of them
    findings.giveUp(thread, FindingKind::Divergence, operation.site);
    return;
  }
  checkStep(warp, operation);
  uint32_t number = thread.registers[0];
  Warp &own = warps[warp];
  switch (operation.warpgroup->kind) {
  case Kind::Fence:
    return fence(warp);
  case Kind::Multiply:
    return multiply(warp, operation);
  case Kind::Commit:
    own.groups.push_back(std::move(own.open));
    own.open = Group();
    return;
  case Kind::Wait:
    return wait(warp, number);
  case Kind::ReleaseRegisters:
    return registers.release(warp, operation, number);
  case Kind::RequestRegisters:
    return registers.request(warp, operation, number);
  }
}

void Warpgroups::endBlock(bool isComplete) {
  if (!isComplete || !tables.hasWarpgroups)
    return;
  for (unsigned warp = 0; warp < warps.size(); ++warp) {
    Warp &own = warps[warp];
    const ThreadState &thread = block.threads[warp * kWarpSize];
    own.groups.push_back(std::move(own.open));
    for (const Group &group : own.groups)
      if (launch.checksRaces() && !group.products.empty())
        findings.report(thread, FindingKind::NotWaitedAtEnd,
                        group.products.front()->site);
    const Team &team = teams[getTeam(warp)];
    uint64_t place = own.numSteps - team.first;
    if (place >= team.steps.size())
      continue;
    const Step &missed = team.steps[place];
    findings.report(block.threads[missed.warp * kWarpSize],
                    FindingKind::Warpgroup, missed.operation->site,
                    {makeNote("warp " + std::to_string(getLocal(warp)) +
                              " of the same warpgroup leaves the kernel "
                              "without it")});
  }
}

} // namespace mlir::workgroup::emulator
