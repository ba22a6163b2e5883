// The functions of Node's OpenSSL that the addon uses. Node's program exports OpenSSL for addons (Node.js documentation, "C++
// addons", "Linking to libraries included with Node.js"). The references are weak, because a program that embeds the addon
// may lack them (see `hasOpenSsl`). Declared here, because the headers of Node-API do not include those of OpenSSL. Source
// of the declarations: OpenSSL's manual, EVP_EncryptInit(3) and EVP_DigestInit(3).
#pragma once

#include <cstddef>

#if defined(__linux__)
#define LBC_OPENSSL 1

extern "C" {

struct evp_cipher_ctx_st;
struct evp_cipher_st;
struct evp_md_ctx_st;
struct evp_md_st;
struct engine_st;

#define LBC_WEAK __attribute__((weak))
evp_cipher_ctx_st* EVP_CIPHER_CTX_new(void) LBC_WEAK;
void EVP_CIPHER_CTX_free(evp_cipher_ctx_st* context) LBC_WEAK;
int EVP_CIPHER_CTX_ctrl(evp_cipher_ctx_st* context, int type, int argument, void* pointer) LBC_WEAK;
int EVP_CIPHER_CTX_set_padding(evp_cipher_ctx_st* context, int padding) LBC_WEAK;
const evp_cipher_st* EVP_aes_128_cbc(void) LBC_WEAK;
const evp_cipher_st* EVP_aes_128_gcm(void) LBC_WEAK;
int EVP_CipherInit_ex(evp_cipher_ctx_st* context, const evp_cipher_st* type, engine_st* engine,
                      const unsigned char* key, const unsigned char* iv, int encrypts) LBC_WEAK;
int EVP_CipherUpdate(evp_cipher_ctx_st* context, unsigned char* out, int* outSize, const unsigned char* in,
                     int inSize) LBC_WEAK;
int EVP_CipherFinal_ex(evp_cipher_ctx_st* context, unsigned char* out, int* outSize) LBC_WEAK;
evp_md_ctx_st* EVP_MD_CTX_new(void) LBC_WEAK;
void EVP_MD_CTX_free(evp_md_ctx_st* context) LBC_WEAK;
const evp_md_st* EVP_sha384(void) LBC_WEAK;
int EVP_DigestInit_ex(evp_md_ctx_st* context, const evp_md_st* type, engine_st* engine) LBC_WEAK;
int EVP_DigestUpdate(evp_md_ctx_st* context, const void* data, size_t size) LBC_WEAK;
int EVP_DigestFinal_ex(evp_md_ctx_st* context, unsigned char* digest, unsigned* size) LBC_WEAK;
#undef LBC_WEAK
}

namespace lbc {

// Value of EVP_CTRL_GCM_GET_TAG in all versions of OpenSSL.
constexpr int kGcmGetTag = 0x10;

inline bool hasOpenSsl() {
  return EVP_CIPHER_CTX_new && EVP_CIPHER_CTX_free && EVP_CIPHER_CTX_ctrl && EVP_CIPHER_CTX_set_padding &&
         EVP_aes_128_cbc && EVP_aes_128_gcm && EVP_CipherInit_ex && EVP_CipherUpdate && EVP_CipherFinal_ex &&
         EVP_MD_CTX_new && EVP_MD_CTX_free && EVP_sha384 && EVP_DigestInit_ex && EVP_DigestUpdate && EVP_DigestFinal_ex;
}

}  // namespace lbc

#endif
