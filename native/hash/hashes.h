// SHA-512 and RIPEMD-160 (portable), and the hash functions of the chain that combine them. Source: FIPS 180-4; Dobbertin,
// Bosselaers, Preneel "RIPEMD-160: A Strengthened Version of RIPEMD"; lbrycrd hash.cpp `PoWHash`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lbc {

constexpr size_t kHeaderSize = 112;

// SHA-512 of a message of at most 111 bytes, which fits in one block.
void sha512Short(const uint8_t* data, size_t size, uint8_t* digest);
// RIPEMD-160 of a message of at most 55 bytes, which fits in one block.
void ripemd160Short(const uint8_t* data, size_t size, uint8_t* digest);
// Hash160: RIPEMD-160 of the SHA-256 of the data. Writes 20 bytes.
void hash160(const uint8_t* data, size_t size, uint8_t* digest);

// Proof-of-work hash of a header whose double SHA-256 is `id`.
void powHashOfId(const uint8_t* id, uint8_t* digest);

// Computes the merkle root of `count` leaves and overwrites the leaves. `leaves` must have space for one more leaf. The
// root is zero without any leaves. `mutated` (may be null): whether two equal siblings are hashed together. Source:
// `ComputeMerkleRoot`.
void merkleRoot(uint8_t* leaves, size_t count, uint8_t* root, bool* mutated);

namespace detail {
extern const uint64_t kSha512Constants[80];
}

}  // namespace lbc
