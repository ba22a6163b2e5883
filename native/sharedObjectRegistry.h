// Objects shared by several environments of the process: the creator publishes an object and passes its number to other
// threads, which attach to the object by number. The object lives until the creator and all attached threads have released
// it.
#pragma once

#include <cstdint>
#include <memory>

namespace lbc {

enum class SharedKind { kRows, kDatabase };

// The number is never reused in this process.
uint32_t publish(SharedKind kind, const std::shared_ptr<void>& object);

// Null when the number is unknown, of another kind, or of an object that was released.
std::shared_ptr<void> attach(SharedKind kind, uint32_t number);

}  // namespace lbc
