// The scheduler. Fibers are made once and used for every block of every launch: a new one costs
// TSan 25 us, a switch 200 ns. For TSan this file alone is compiled without -fsanitize=thread, with
// FIBERS_TSAN: the scheduler's own data must not order, or race with, what the kernels do.
#include "kernels/fibers/fibers.h"

#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBERS_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace kernels::fibers {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;

/// A flow of execution, with what the sanitizers want to know of it.
struct Context {
  ucontext_t context{};
  const void* stack = nullptr;
  std::size_t stack_bytes = 0;
  void* asan_fake_stack = nullptr;
  void* tsan_fiber = nullptr;
};

enum class State { ready, at_barrier, in_exchange, done };

struct Fiber : Context {
  State state = State::ready;
  unsigned thread = 0;
  std::uint32_t mask = 0;
  std::uint64_t sent = 0;
  std::array<std::uint64_t, 32> received{};
  std::unique_ptr<char[]> memory = std::make_unique<char[]>(kStackBytes);
};

struct Scheduler {
  std::vector<std::unique_ptr<Fiber>> fibers;  // pointers: a ucontext_t must not move
  Context main;
  Fiber* current = nullptr;
  const std::function<void()>* body = nullptr;
  Order order = Order::forward;
};

Scheduler& scheduler() {
  static Scheduler instance;
  return instance;
}

// What each of these points in time orders, as TSan should see it: all before with all after.
char block_begins, block_ends, barrier_passed;

void release([[maybe_unused]] char& point) {
#ifdef FIBERS_TSAN
  __tsan_release(&point);
#endif
}

void acquire([[maybe_unused]] char& point) {
#ifdef FIBERS_TSAN
  __tsan_acquire(&point);
#endif
}

void switch_to(Context& from, Context& to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.asan_fake_stack, to.stack, to.stack_bytes);
#endif
#ifdef FIBERS_TSAN
  __tsan_switch_to_fiber(to.tsan_fiber, __tsan_switch_to_fiber_no_sync);
#endif
  swapcontext(&from.context, &to.context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from.asan_fake_stack, nullptr, nullptr);
#endif
}

void pause(State state) {
  Fiber& self = *scheduler().current;
  self.state = state;
  release(block_ends);  // at every pause, for an error may make it the last
  switch_to(self, scheduler().main);
}

/// A fiber's whole life: one thread of a block after the other.
void live() {
#ifdef __SANITIZE_ADDRESS__
  Context& main = scheduler().main;  // the stack that a test runs on is known only from here
  __sanitizer_finish_switch_fiber(nullptr, &main.stack, &main.stack_bytes);
#endif
  while (true) {
    acquire(block_begins);
    (*scheduler().body)();
    pause(State::done);
  }
}

std::unique_ptr<Fiber> make_fiber() {
  auto fiber = std::make_unique<Fiber>();
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->memory.get();
  fiber->context.uc_stack.ss_size = kStackBytes;
  fiber->stack = fiber->memory.get();
  fiber->stack_bytes = kStackBytes;
  makecontext(&fiber->context, live, 0);
#ifdef FIBERS_TSAN
  fiber->tsan_fiber = __tsan_create_fiber(0);
#endif
  return fiber;
}

std::string name(const Fiber& fiber) {
  return "thread " + std::to_string(fiber.thread) + " of block " + std::to_string(blockIdx.x);
}

/// Ends an exchange if all lanes of its mask have come to it.
void try_exchange(Fiber& fiber, unsigned threads) {
  if ((fiber.mask >> (fiber.thread % 32) & 1) == 0) {
    throw Error(name(fiber) + " is not in the mask that it waits for");
  }
  const unsigned first = fiber.thread / 32 * 32;
  const auto& fibers = scheduler().fibers;
  std::array<std::uint64_t, 32> sent{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((fiber.mask >> lane & 1) == 0) continue;
    if (first + lane >= threads) throw Error(name(fiber) + " waits for a lane past its block");
    const Fiber& other = *fibers[first + lane];
    if (other.state == State::done) {
      throw Error(name(fiber) + " waits for " + name(other) + ", which has returned");
    }
    if (other.state != State::in_exchange || other.mask != fiber.mask) return;
    sent[lane] = other.sent;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((fiber.mask >> lane & 1) == 0) continue;
    fibers[first + lane]->received = sent;
    fibers[first + lane]->state = State::ready;
  }
}

/// Resumes whoever is ready. Whether that was anyone.
bool resume_ready(const std::vector<Fiber*>& block) {
  Scheduler& s = scheduler();
  bool any = false;
  for (Fiber* fiber : block) {
    if (fiber->state != State::ready) continue;
    any = true;
    s.current = fiber;
    threadIdx.x = fiber->thread;
    switch_to(s.main, *fiber);
    if (fiber->state == State::in_exchange) {
      try_exchange(*fiber, static_cast<unsigned>(block.size()));
    }
  }
  return any;
}

void run_block(const std::vector<Fiber*>& block) {
  for (Fiber* fiber : block) fiber->state = State::ready;
  const auto count = [&](State state) {
    return std::count_if(block.begin(), block.end(), [=](auto* f) { return f->state == state; });
  };
  while (count(State::done) < std::ssize(block)) {
    if (resume_ready(block)) continue;
    if (count(State::at_barrier) + count(State::done) == std::ssize(block)) {
      for (Fiber* fiber : block) {
        if (fiber->state == State::at_barrier) fiber->state = State::ready;
      }
      continue;
    }
    const auto waiting = [&](State state) {
      return name(
          **std::find_if(block.begin(), block.end(), [=](auto* f) { return f->state == state; }));
    };
    throw Error("deadlock: " + waiting(State::in_exchange) + " waits for its warp, " +
                (count(State::at_barrier) == 0 ? "whose lanes have come to different exchanges"
                                               : waiting(State::at_barrier) + " at a barrier"));
  }
}

void run_grid(const LaunchConfig& config) {
  Scheduler& s = scheduler();
#ifdef FIBERS_TSAN
  s.main.tsan_fiber = __tsan_get_current_fiber();
#endif
  while (s.fibers.size() < config.threads) s.fibers.push_back(make_fiber());
  std::vector<Fiber*> block;
  for (unsigned thread = 0; thread < config.threads; ++thread) {
    s.fibers[thread]->thread = thread;
    block.push_back(s.fibers[thread].get());
  }
  if (s.order == Order::reverse) std::reverse(block.begin(), block.end());
  std::mt19937 random;  // the same each time: a failure can be repeated
  blockDim = dim3{config.threads, 1, 1};
  gridDim = dim3{config.blocks, 1, 1};
  release(block_begins);
  for (blockIdx.x = 0; blockIdx.x < config.blocks; ++blockIdx.x) {
    if (s.order == Order::shuffled) std::shuffle(block.begin(), block.end(), random);
    run_block(block);
    acquire(block_ends);
    release(block_begins);  // blocks use the same __shared__ variables, in turn
  }
}

}  // namespace

void set_order(Order order) { scheduler().order = order; }

void run(const LaunchConfig& config, const std::function<void()>& body) {
  if (config.blocks < 1 || config.blocks > kMaxBlocks || config.threads < 1 ||
      config.threads > 1024) {
    throw std::invalid_argument("launch: " + std::to_string(config.blocks) + " blocks of " +
                                std::to_string(config.threads) +
                                " threads; expected 1 to 2^31 - 1 of 1 to 1024");
  }
  scheduler().body = &body;
  try {
    run_grid(config);
  } catch (...) {
    acquire(block_ends);
    scheduler().fibers.clear();  // those in the middle of a thread are of no more use
    throw;
  }
}

void barrier() {
  release(barrier_passed);
  pause(State::at_barrier);
  acquire(barrier_passed);
}

std::array<std::uint64_t, 32> exchange(std::uint32_t mask, std::uint64_t value) {
  Fiber& self = *scheduler().current;
  self.mask = mask;
  self.sent = value;
  pause(State::in_exchange);
  return self.received;
}

}  // namespace kernels::fibers
