// Codes of a blob's chunks: AES-128-GMAC with the number of the chunk as nonce (src/daemon/content/chunkTable.ts).
#pragma once

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
    isUsable_ = context_ && EVP_CipherInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr, key, nullptr, 1) == 1;
  }

  // Computes the code of a chunk of at most `kChunk` bytes. Returns false if OpenSSL fails.
  bool code(size_t number, const uint8_t* bytes, size_t size, uint8_t* code) {
    uint8_t nonce[kNonce] = {};
    for (int i = 0; i < 4; i++) nonce[kNonce - 1 - i] = static_cast<uint8_t>(number >> 8 * i);
    int count = 0;
    evp_cipher_ctx_st* context = context_.get();
    // With OpenSSL, an update without output adds authenticated data.
    return isUsable_ && EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, nonce, 1) == 1 &&
           EVP_CipherUpdate(context, nullptr, &count, bytes, static_cast<int>(size)) == 1 &&
           EVP_CipherFinal_ex(context, code, &count) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, kGcmGetTag, static_cast<int>(kChunkCode), code) == 1;
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
  CipherContext context_;
  bool isUsable_;
};

}  // namespace lbc

#endif
