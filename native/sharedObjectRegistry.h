// Objects that several environments of the process see: the creator publishes one and passes its number on, and other
// threads attach to it by that. It lives until its maker and all that are attached have given it up.
#pragma once

#include <cstdint>
#include <memory>

namespace lbc {

enum class SharedKind { kRows, kDatabase };

// The number is never given again in this process.
uint32_t publish(SharedKind kind, const std::shared_ptr<void>& object);

// Null for a number that names nothing of this kind, or nothing any more.
std::shared_ptr<void> attach(SharedKind kind, uint32_t number);

}  // namespace lbc
