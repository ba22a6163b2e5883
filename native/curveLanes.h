// Verifies up to eight signatures side by side, where the processor can. Says "valid" or nothing: every other answer is
// libsecp256k1's.
#pragma once

#include <cstdint>

#include "laneBatch.h"

#if defined(LBC_SECP256K1_BUNDLED) && defined(__x86_64__) && defined(__GNUC__)
#define LBC_HAS_LANES 1
#endif

namespace lbc {

// Whether this build and this processor have the lanes.
bool hasLanes();

// One operation of the field in all lanes, to hold the arithmetic against numbers: see LANE_FIELD of src/native/binding.ts.
// Elements are limbs, lane innermost, "carried" in the sense of fieldLanes.h; predicates answer in the lowest limb. False when
// there is no such operation. Only call it with `hasLanes`.
using LaneField = uint64_t[LBC_LIMBS][LBC_LANES];
bool computeInLanes(uint32_t operation, const LaneField& a, const LaneField& b, LaneField* out);

// Bits of the lanes whose signatures are valid for sure. Only call it with `hasLanes`.
uint8_t verifyLanes(const lbc_lane_batch& batch);

}  // namespace lbc
