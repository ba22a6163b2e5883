// Codes of a blob's chunks: AES-128-GMAC with the number of the chunk as nonce (src/daemon/content/chunkTable.ts).
#pragma once

#include "blobs/ghash.h"
#include "blobs/openssl.h"

#ifdef LBC_OPENSSL

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace lbc {

struct FreeCipherContext {
  void operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<evp_cipher_ctx_st, FreeCipherContext>;

// CHUNK_BYTES of src/daemon/content/chunkTable.ts.
constexpr size_t kChunk = 64 * 1024;
constexpr size_t kChunkKey = 16;
constexpr size_t kChunkCode = 16;

// Size of the table of a blob of `size` bytes.
constexpr size_t chunkTableSize(size_t size) { return kChunkKey + (size + kChunk - 1) / kChunk * kChunkCode; }

class ChunkCodes {
 public:
  explicit ChunkCodes(const uint8_t* key) : context_(EVP_CIPHER_CTX_new()) {
    isUsable_ = context_ && (!hasGhash() || makeGhashKey(key)) &&
                EVP_CipherInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr, key, nullptr, 1) == 1;
  }

  // Computes the code of a chunk of at most `kChunk` bytes. Returns false if OpenSSL fails.
  bool code(size_t number, const uint8_t* bytes, size_t size, uint8_t* code) {
    // The tag of AES-GCM is GHASH xor an encrypted block. This block is the tag of a message without data.
    if (!hasGhash()) return openSslCode(number, bytes, size, code);
    if (!openSslCode(number, nullptr, 0, code)) return false;
    uint8_t hash[kChunkCode];
    ghash(ghashKey_, bytes, size, hash);
    for (size_t i = 0; i < kChunkCode; i++) code[i] ^= hash[i];
    return true;
  }

  // Whether the chunk has this code.
  bool matches(size_t number, const uint8_t* bytes, size_t size, const uint8_t* wanted) {
    uint8_t found[kChunkCode];
    if (!code(number, bytes, size, found)) return false;
    uint8_t differences = 0;
    for (size_t i = 0; i < kChunkCode; i++) differences |= found[i] ^ wanted[i];
    return differences == 0;
  }

 private:
  static constexpr size_t kNonce = 12;

  bool makeGhashKey(const uint8_t* key) {
    const CipherContext cipher(EVP_CIPHER_CTX_new());
    const uint8_t zeros[kGhashBlock] = {};
    uint8_t encrypted[kGhashBlock];
    int count = 0;
    // In CBC mode with an initialization vector of zeros, the first block is encrypted without a change.
    const bool isDone = cipher &&
                        EVP_CipherInit_ex(cipher.get(), EVP_aes_128_cbc(), nullptr, key, zeros, 1) == 1 &&
                        EVP_CipherUpdate(cipher.get(), encrypted, &count, zeros, sizeof zeros) == 1 &&
                        static_cast<size_t>(count) == sizeof encrypted;
    if (isDone) ghashKey(encrypted, &ghashKey_);
    return isDone;
  }

  bool openSslCode(size_t number, const uint8_t* bytes, size_t size, uint8_t* code) {
    uint8_t nonce[kNonce] = {};
    for (int i = 0; i < 4; i++) nonce[kNonce - 1 - i] = static_cast<uint8_t>(number >> 8 * i);
    int count = 0;
    evp_cipher_ctx_st* context = context_.get();
    // With OpenSSL, an update without output adds authenticated data.
    return isUsable_ && EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, nonce, 1) == 1 &&
           (size == 0 || EVP_CipherUpdate(context, nullptr, &count, bytes, static_cast<int>(size)) == 1) &&
           EVP_CipherFinal_ex(context, code, &count) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, kGcmGetTag, static_cast<int>(kChunkCode), code) == 1;
  }

  CipherContext context_;
  GhashKey ghashKey_;
  bool isUsable_;
};

}  // namespace lbc

#endif
