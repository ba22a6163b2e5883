// Incremental SHA-384 by OpenSSL.
#pragma once

#include "blobs/openssl.h"

#ifdef LBC_OPENSSL

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lbc {

constexpr size_t kSha384Digest = 48;

class Sha384 {
 public:
  Sha384() : context_(EVP_MD_CTX_new()) {
    isUsable_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha384(), nullptr) == 1;
  }

  // Returns false if OpenSSL fails.
  bool add(const uint8_t* bytes, size_t size) {
    isUsable_ = isUsable_ && EVP_DigestUpdate(context_.get(), bytes, size) == 1;
    return isUsable_;
  }

  // Writes `kSha384Digest` bytes. Returns false if OpenSSL failed, or if it was called before.
  bool end(uint8_t* digest) {
    const bool isDone = isUsable_ && EVP_DigestFinal_ex(context_.get(), digest, nullptr) == 1;
    isUsable_ = false;
    return isDone;
  }

 private:
  struct FreeContext {
    void operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<evp_md_ctx_st, FreeContext> context_;
  bool isUsable_;
};

}  // namespace lbc

#endif
