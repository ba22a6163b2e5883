#include "verify/keyCache.h"

#include <cstring>
#include <mutex>

#include "verify/ecdsa.h"

namespace lbc {

namespace {

// 6 MiB when all places are in use. The computation of a point takes a tenth of a verification, and most keys are used
// again within some ten thousand inputs. Measured: docs/benchmarks.md.
constexpr size_t kPlaces = 1 << 16;
constexpr size_t kLocks = 64;

struct Place {
  uint8_t key[kCompressedKeySize];  // all zero if the place is empty
  secp256k1_pubkey point;
};

// The system allocates each page of zeroed memory when it is first written.
Place places[kPlaces];
std::mutex locks[kLocks];

}  // namespace

bool pointOf(const uint8_t* compressedKey, secp256k1_pubkey* point) {
  // The first byte has only the parity, so the place follows from the bytes of the x coordinate.
  uint32_t start;
  memcpy(&start, compressedKey + 1, sizeof start);
  const size_t number = start % kPlaces;
  Place& place = places[number];
  std::mutex& lock = locks[number % kLocks];
  {
    const std::lock_guard<std::mutex> guard(lock);
    if (memcmp(place.key, compressedKey, kCompressedKeySize) == 0) {
      *point = place.point;
      return true;
    }
  }
  if (!secp256k1_ec_pubkey_parse(secp256k1_context_static, point, compressedKey, kCompressedKeySize)) return false;
  const std::lock_guard<std::mutex> guard(lock);
  memcpy(place.key, compressedKey, kCompressedKeySize);
  place.point = *point;
  return true;
}

}  // namespace lbc
