#include "napi/sharedObjectRegistry.h"

#include <mutex>
#include <unordered_map>

namespace lbc {

namespace {

struct Published {
  SharedKind kind;
  std::weak_ptr<void> object;
};

struct Registry {
  std::mutex lock;
  std::unordered_map<uint32_t, Published> objects;
  uint32_t last = 0;
};

// The registry is never destroyed, because threads may still be ending when the process exits.
Registry& registry() {
  static auto* const made = new Registry();
  return *made;
}

}  // namespace

uint32_t publish(SharedKind kind, const std::shared_ptr<void>& object) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.lock);
  for (auto at = all.objects.begin(); at != all.objects.end();) {
    at = at->second.object.expired() ? all.objects.erase(at) : std::next(at);
  }
  all.objects[++all.last] = Published{kind, object};
  return all.last;
}

std::shared_ptr<void> attach(SharedKind kind, uint32_t number) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.lock);
  const auto found = all.objects.find(number);
  if (found == all.objects.end() || found->second.kind != kind) return nullptr;
  return found->second.object.lock();
}

}  // namespace lbc
