// Arithmetic of curve points in eight lanes.
//
// All lanes take the same steps, so there are no cases for equal, opposite or infinite points as libsecp256k1 has them. That
// is sound because of one property of the formulas: where a sum is not defined (equal x coordinates), they give Z = 0; and
// from a point with Z = 0 both doubling and adding give Z = 0 again. A lane that ends with Z = 0 says nothing, so nobody can
// make up a signature that passes by leading the formulas astray. Test: test/differential/signatureLanes.test.ts.
#include "curveLanes.h"

#ifdef LBC_HAS_LANES

#include <cpuid.h>

#include <memory>

#if !defined(__clang__)
// GCC 12 takes its own intrinsics for uses of uninitialized variables (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "fieldLanes.h"

namespace lbc {

namespace {

// Multiplying x by this cube root of one multiplies the point by lambda.
constexpr uint64_t kBeta[LBC_LIMBS] = {0x96c28719501ee, 0x7512f58995c13, 0xc3434e99cf049, 0x07106e64479ea,
                                       0x07ae96a2b657c};
// Of y^2 = x^3 + 7.
constexpr uint64_t kCurveConstant[LBC_LIMBS] = {7, 0, 0, 0, 0};
constexpr uint64_t kOne[LBC_LIMBS] = {1, 0, 0, 0, 0};

// A key's multiples 1 to 8.
constexpr int kKeyMultiples = 1 << (LBC_KEY_BITS - 1);
static_assert(LBC_GENERATOR_BITS % LBC_KEY_BITS == 0, "the windows of both kinds begin at the same bits");
static_assert((LBC_GENERATOR_DIGITS - 1) * LBC_GENERATOR_BITS <= (LBC_KEY_DIGITS - 1) * LBC_KEY_BITS, "the key leads");

// The point (X / Z^2, Y / Z^3).
struct Jacobian {
  Field x, y, z;
};

struct Affine {
  Field x, y;
};

// Where a lane's sum has begun; before that its point has no meaning.
struct Sum {
  Jacobian point;
  __mmask8 begun = 0;
};

LBC_LANE_CODE void doublePoint(Jacobian& p) {
  // With s = y^2 and m = 3 x^2: x' = m^2 - 8 x s, y' = m (4 x s - x') - 8 s^2, z' = 2 y z.
  const Field m = timesThree(square(p.x));
  const Field s = square(p.y);
  const Field xs = multiply(p.x, s);
  const Field yz = multiply(p.y, p.z);
  p.x = subtract(square(m), xs, 3);
  p.y = subtract(multiply(m, subtract(timesPowerOfTwo(xs, 2), p.x)), square(s), 3);
  p.z = timesPowerOfTwo(yz, 1);
}

// p + q; Z is zero where both have the same x, or where p's was.
LBC_LANE_CODE Jacobian addPoint(const Jacobian& p, const Affine& q) {
  const Field zz = square(p.z);
  const Field h = subtract(multiply(q.x, zz), p.x);
  const Field r = subtract(multiply(q.y, multiply(p.z, zz)), p.y);
  const Field hh = square(h);
  const Field hhh = multiply(h, hh);
  const Field v = multiply(p.x, hh);
  Jacobian out;
  out.x = subtract(subtract(square(r), hhh), v, 1);
  out.y = subtract(multiply(r, subtract(v, out.x)), multiply(p.y, hhh));
  out.z = multiply(p.z, h);
  return out;
}

// Adds q, or -q in the lanes of `negative`, in the lanes of `wanted`.
LBC_LANE_CODE void accumulate(Sum& sum, __mmask8 wanted, __mmask8 negative, const Affine& q) {
  const Affine term = {q.x, select(negative, negate(q.y), q.y)};
  const __mmask8 first = wanted & ~sum.begun;
  Jacobian& point = sum.point;
  const Jacobian added = addPoint(point, term);
  point.x = select(first, term.x, select(wanted, added.x, point.x));
  point.y = select(first, term.y, select(wanted, added.y, point.y));
  point.z = select(first, broadcastField(kOne), select(wanted, added.z, point.z));
  sum.begun |= wanted;
}

// Key and multiples as (x, y) over one common Z, which the caller multiplies in at the end.
struct KeyTable {
  Affine multiple[kKeyMultiples];
  Field lambdaX[kKeyMultiples];
  Field z;
};

LBC_LANE_CODE void makeKeyTable(KeyTable& table, const Affine& key) {
  Jacobian multiple[kKeyMultiples];
  multiple[0] = {key.x, key.y, broadcastField(kOne)};
  for (int i = 1; i < kKeyMultiples; i++) {
    if (i % 2 == 1) {
      multiple[i] = multiple[i / 2];
      doublePoint(multiple[i]);
    } else {
      multiple[i] = addPoint(multiple[i - 1], key);
    }
  }
  // Each point is brought to the product of all Z by the product of the others: of those before and those behind it.
  Field before[kKeyMultiples];
  before[0] = broadcastField(kOne);
  for (int i = 1; i < kKeyMultiples; i++) before[i] = multiply(before[i - 1], multiple[i - 1].z);
  const Field beta = broadcastField(kBeta);
  Field behind = broadcastField(kOne);
  for (int i = kKeyMultiples - 1; i >= 0; i--) {
    const Field others = multiply(before[i], behind);
    const Field squared = square(others);
    behind = multiply(behind, multiple[i].z);
    table.multiple[i].x = multiply(multiple[i].x, squared);
    table.multiple[i].y = multiply(multiple[i].y, multiply(squared, others));
    table.lambdaX[i] = multiply(table.multiple[i].x, beta);
  }
  table.z = behind;
}

// Eight digits: their magnitudes, and where they are not zero or negative.
struct Digits {
  __m512i magnitude;
  __mmask8 wanted, negative;
};

LBC_LANE_INLINE Digits readDigits(const int16_t* digits) {
  const __m512i signedDigits =
      _mm512_cvtepi16_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(digits)));
  const __m512i zero = _mm512_setzero_si512();
  return {_mm512_abs_epi64(signedDigits), _mm512_cmpneq_epi64_mask(signedDigits, zero),
          _mm512_cmplt_epi64_mask(signedDigits, zero)};
}

// The multiple that each lane's digit asks for, of the key (half 0) or of lambda times it.
LBC_LANE_CODE Affine pickKeyMultiple(const KeyTable& table, int half, __m512i magnitude) {
  Affine out = {half == 0 ? table.multiple[0].x : table.lambdaX[0], table.multiple[0].y};
  for (int i = 1; i < kKeyMultiples; i++) {
    const __mmask8 here = _mm512_cmpeq_epi64_mask(magnitude, everywhere(static_cast<uint64_t>(i) + 1));
    out.x = select(here, half == 0 ? table.multiple[i].x : table.lambdaX[i], out.x);
    out.y = select(here, table.multiple[i].y, out.y);
  }
  return out;
}

// Likewise of the generator, brought to the key table's Z, whose square and cube are given.
LBC_LANE_CODE Affine pickGeneratorMultiple(const lbc_lane_point* multiples, const Digits& digits, const Field& zz,
                                           const Field& zzz) {
  constexpr int kStride = sizeof(lbc_lane_point) / sizeof(uint64_t);
  // Lanes without a digit read the first multiple, and use it for nothing.
  const __m512i row = _mm512_maskz_sub_epi64(digits.wanted, digits.magnitude, everywhere(1));
  const __m512i at = _mm512_mul_epu32(row, everywhere(kStride));
  Affine out;
  for (int i = 0; i < LBC_LIMBS; i++) {
    out.x.limb[i] = _mm512_i64gather_epi64(at, multiples->limb + i, 8);
    out.y.limb[i] = _mm512_i64gather_epi64(at, multiples->limb + LBC_LIMBS + i, 8);
  }
  return {multiply(out.x, zz), multiply(out.y, zzz)};
}

// Finds the y of compressed keys. Returns the lanes whose key is on the curve.
LBC_LANE_CODE __mmask8 completeKey(const lbc_lane_batch& batch, Affine& key) {
  const Field right = add(multiply(square(key.x), key.x), broadcastField(kCurveConstant));
  const Field root = squareRoot(right);
  const Field wanted = select(isOdd(root) ^ batch.odd, negate(root), root);
  key.y = select(batch.compressed, wanted, key.y);
  return isZero(subtract(square(key.y), right));
}

const lbc_lane_point* generatorMultiples() {
  static const std::unique_ptr<lbc_lane_point[]> points = [] {
    std::unique_ptr<lbc_lane_point[]> made(new lbc_lane_point[2 * LBC_GENERATOR_MULTIPLES]);
    lbc_generator_multiples(made.get());
    return made;
  }();
  return points.get();
}

LBC_LANE_CODE uint8_t verify(const lbc_lane_batch& batch, const lbc_lane_point* generator) {
  Affine key = {loadField(batch.key_x), loadField(batch.key_y)};
  const __mmask8 onCurve = completeKey(batch, key);
  KeyTable table;
  makeKeyTable(table, key);
  const Field zz = square(table.z);
  const Field zzz = multiply(zz, table.z);

  Sum sum;
  sum.point = {key.x, key.y, table.z};
  for (int i = LBC_KEY_DIGITS - 1; i >= 0; i--) {
    if (i < LBC_KEY_DIGITS - 1) {
      for (int bit = 0; bit < LBC_KEY_BITS; bit++) doublePoint(sum.point);
    }
    for (int half = 0; half < 2; half++) {
      const Digits digits = readDigits(batch.key_digits[half][i]);
      accumulate(sum, digits.wanted, digits.negative, pickKeyMultiple(table, half, digits.magnitude));
    }
    const int window = i / (LBC_GENERATOR_BITS / LBC_KEY_BITS);
    if (i % (LBC_GENERATOR_BITS / LBC_KEY_BITS) != 0 || window >= LBC_GENERATOR_DIGITS) continue;
    for (int half = 0; half < 2; half++) {
      const Digits digits = readDigits(batch.generator_digits[half][window]);
      const lbc_lane_point* multiples = generator + half * LBC_GENERATOR_MULTIPLES;
      accumulate(sum, digits.wanted, digits.negative, pickGeneratorMultiple(multiples, digits, zz, zzz));
    }
  }

  // The x coordinate is r when X = r Z^2. That it may also be r + n is left to the library.
  const Field z = multiply(sum.point.z, table.z);
  const __mmask8 equal = isZero(subtract(sum.point.x, multiply(loadField(batch.r), square(z))));
  return static_cast<uint8_t>(batch.ready & onCurve & sum.begun & equal & ~isZero(z));
}

LBC_LANE_INLINE void storeField(LaneField* out, const Field& a) {
  for (int i = 0; i < LBC_LIMBS; i++) _mm512_storeu_si512((*out)[i], a.limb[i]);
}

LBC_LANE_INLINE void storeMask(LaneField* out, __mmask8 mask) {
  Field a = {};
  a.limb[0] = _mm512_maskz_mov_epi64(mask, everywhere(1));
  storeField(out, a);
}

LBC_LANE_CODE bool compute(uint32_t operation, const LaneField& left, const LaneField& right, LaneField* out) {
  const Field a = loadField(left), b = loadField(right);
  switch (operation) {
    case 0: return storeField(out, multiply(a, b)), true;
    case 1: return storeField(out, square(a)), true;
    case 2: return storeField(out, add(a, b)), true;
    case 3: return storeField(out, subtract(a, b)), true;
    case 4: return storeField(out, subtract(a, b, 3)), true;
    case 5: return storeField(out, negate(a)), true;
    case 6: return storeField(out, timesThree(a)), true;
    case 7: return storeField(out, timesPowerOfTwo(a, 4)), true;
    case 8: return storeField(out, squareRoot(a)), true;
    case 9: return storeMask(out, isZero(a)), true;
    case 10: return storeMask(out, isOdd(a)), true;
  }
  return false;
}

bool processorHasLanes() {
  unsigned a, b, c, d;
  // Whether the system saves the wide registers: OSXSAVE, and the bits of XCR0 for SSE, AVX and the three of AVX-512.
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return false;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 0xe6) != 0xe6) return false;
  // Leaf 7 EBX: AVX512F, AVX512IFMA.
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 16 & 1) && (b >> 21 & 1);
}

}  // namespace

bool hasLanes() {
  static const bool has = processorHasLanes();
  return has;
}

uint8_t verifyLanes(const lbc_lane_batch& batch) { return verify(batch, generatorMultiples()); }

bool computeInLanes(uint32_t operation, const LaneField& a, const LaneField& b, LaneField* out) {
  return compute(operation, a, b, out);
}

}  // namespace lbc

#else

namespace lbc {

bool hasLanes() { return false; }

uint8_t verifyLanes(const lbc_lane_batch&) { return 0; }

bool computeInLanes(uint32_t, const LaneField&, const LaneField&, LaneField*) { return false; }

}  // namespace lbc

#endif
