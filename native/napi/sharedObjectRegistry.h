// Objects shared by several environments of the process: the creator publishes an object and passes its number to other
// threads, which attach to the object by number. The object lives until the creator and all attached threads have released
// it.
#pragma once

#include <cstdint>
#include <memory>

namespace lbc {

enum class SharedKind { kRows, kDatabase };

// Makes an object available to other threads. Returns a number that is never used again in this process.
uint32_t publish(SharedKind kind, const std::shared_ptr<void>& object);

// Returns null when the number is unknown, belongs to an object of another kind, or to an object that was released.
std::shared_ptr<void> attach(SharedKind kind, uint32_t number);

}  // namespace lbc
