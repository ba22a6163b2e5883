// Makes blobs from the pieces of a file, on threads of the pool: reads and hashes the file, encrypts pieces in place, and
// computes hashes and chunk tables of the blobs. Each part of 64 KiB is encrypted and hashed while it is in the processor's cache.
#include "blobs/openssl.h"
#include "napi/addon.h"
#include "napi/job.h"

#ifdef LBC_OPENSSL
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "blobs/chunkCodes.h"
#include "blobs/digest.h"
#include "hash/sha512Lanes.h"
#endif

namespace lbc {

#ifdef LBC_OPENSSL

namespace {

constexpr size_t kBlock = 16;

// The memory for a piece, which is encrypted in place.
struct Piece {
  uint8_t* data = nullptr;
  size_t capacity = 0;
};

// Maximum number of pieces in one call.
constexpr uint32_t kMaxPieces = 4;

// Reads an array of one to four Uint8Arrays.
bool readPieces(napi_env env, napi_value value, std::vector<Piece>* out) {
  uint32_t count = 0;
  if (napi_get_array_length(env, value, &count) != napi_ok || count == 0 || count > kMaxPieces) {
    throwTypeError(env, "pieces must be an array of one to four");
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    napi_value piece;
    Span bytes;
    if (napi_get_element(env, value, i, &piece) != napi_ok || !readBytes(env, piece, "piece", &bytes)) return false;
    out->push_back({const_cast<uint8_t*>(bytes.data), bytes.size});
  }
  return true;
}

// The SHA-384 of a file that is read in order. Jobs share ownership, because the JavaScript object may be collected while a job runs.
struct FileDigest {
  std::shared_ptr<Sha384> hash = std::make_shared<Sha384>();
  // Only the calling thread uses this.
  std::shared_ptr<bool> isReading = std::make_shared<bool>(false);
};

// Fills the pieces from a position of the file, and adds the bytes to the hash. Returns the number of bytes, which is smaller
// at the end of the file, or a negative error number.
double readAndHash(int file, uint64_t position, const std::vector<Piece>& pieces, Sha384* hash) {
  uint64_t total = 0;
  for (const Piece& piece : pieces) {
    for (size_t at = 0; at < piece.capacity;) {
      const size_t wanted = std::min(kChunk, piece.capacity - at);
      const ssize_t got = pread(file, piece.data + at, wanted, static_cast<off_t>(position + total));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return -static_cast<double>(errno);
      if (got == 0) return static_cast<double>(total);
      if (!hash->add(piece.data + at, static_cast<size_t>(got))) return -static_cast<double>(ENOMEM);
      at += static_cast<size_t>(got);
      total += static_cast<uint64_t>(got);
    }
  }
  return static_cast<double>(total);
}

napi_value construct(napi_env env, napi_callback_info info) {
  napi_value self;
  if (!readArguments(env, info, 0, nullptr, &self)) return nullptr;
  return wrapObject(env, self, new FileDigest(), "the hash of a file could not be started");
}

napi_value jsRead(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  int32_t file;
  uint64_t position;
  std::vector<Piece> pieces;
  FileDigest* digest = readCall<FileDigest>(env, info, "not a FileDigest", 3, arguments);
  if (!digest || !readInt32(env, arguments[0], "file", &file) || !readSize(env, arguments[1], "position", &position) ||
      !readPieces(env, arguments[2], &pieces)) {
    return nullptr;
  }
  if (*digest->isReading) return throwError(env, "the file is being read");
  *digest->isReading = true;
  auto count = std::make_shared<double>(0);
  const auto work = [file, position, pieces = std::move(pieces), hash = digest->hash, count] {
    *count = readAndHash(file, position, pieces, hash.get());
    return Outcome();
  };
  const auto result = [count, isReading = digest->isReading](napi_env env) {
    *isReading = false;
    return makeNumber(env, *count);
  };
  return startJob(env, "FileDigest.read", work, result, arguments[2]);
}

napi_value jsEnd(napi_env env, napi_callback_info info) {
  uint8_t found[kSha384Digest];
  FileDigest* digest = readCall<FileDigest>(env, info, "not a FileDigest", 0, nullptr);
  if (!digest) return nullptr;
  if (*digest->isReading || !digest->hash->end(found)) return throwError(env, "the hash of the file could not be computed");
  return makeBuffer(env, found, sizeof found);
}

// A blob that is made in the memory of a piece.
struct MadeBlob {
  uint8_t* data = nullptr;
  size_t size = 0;
  uint8_t iv[kBlock];
  // The hash, then the chunk table. The table already has its key.
  uint8_t* result = nullptr;
};

// Encrypts a padded piece in place (AES-128-CBC) and writes the codes of its chunks, one chunk after the other.
class PieceEncryption {
 public:
  PieceEncryption(const MadeBlob& made, const uint8_t* key)
      : made_(made), cipher_(EVP_CIPHER_CTX_new()), codes_(made.result + kSha384Digest) {
    isUsable_ = cipher_ && EVP_CipherInit_ex(cipher_.get(), EVP_aes_128_cbc(), nullptr, key, made.iv, 1) == 1 &&
                EVP_CIPHER_CTX_set_padding(cipher_.get(), 0) == 1;
  }

  // Encrypts the next chunk, which starts at `at`. Returns false if OpenSSL fails.
  bool encrypt(size_t at, size_t size) {
    const size_t number = at / kChunk;
    uint8_t* chunk = made_.data + at;
    int count = 0;
    return isUsable_ && EVP_CipherUpdate(cipher_.get(), chunk, &count, chunk, static_cast<int>(size)) == 1 &&
           static_cast<size_t>(count) == size &&
           codes_.code(number, chunk, size, made_.result + kSha384Digest + kChunkKey + number * kChunkCode);
  }

 private:
  const MadeBlob& made_;
  CipherContext cipher_;
  ChunkCodes codes_;
  bool isUsable_;
};

// Makes one blob: encrypts its piece, and writes its hash and the codes of its chunks.
bool makeBlob(const MadeBlob& made, const uint8_t* key) {
  PieceEncryption encryption(made, key);
  Sha384 hash;
  for (size_t at = 0; at < made.size; at += kChunk) {
    const size_t size = std::min(kChunk, made.size - at);
    if (!encryption.encrypt(at, size) || !hash.add(made.data + at, size)) return false;
  }
  return hash.end(made.result);
}

// Makes blobs of the same size, which are hashed at the same time.
bool makeTogether(const std::vector<MadeBlob>& blobs, const uint8_t* key) {
  static_assert(kMaxPieces <= 4, "every processor with lanes has at least four");
  LaneMessages messages;
  messages.size = blobs[0].size;
  std::vector<std::unique_ptr<PieceEncryption>> encryptions;
  for (const MadeBlob& one : blobs) {
    messages.data[messages.count] = one.data;
    messages.digests[messages.count++] = one.result;
    encryptions.push_back(std::make_unique<PieceEncryption>(one, key));
  }
  const auto encrypt = [&](size_t at, size_t size) {
    for (const auto& one : encryptions) {
      if (!one->encrypt(at, size)) return false;
    }
    return true;
  };
  return sha384LanesInParts(messages, kChunk, encrypt);
}

bool makeBlobs(const std::vector<MadeBlob>& blobs, const uint8_t* key, bool usesLanes) {
  const auto isAsLong = [&](const MadeBlob& one) { return one.size == blobs[0].size; };
  if (usesLanes && blobs.size() >= kMinSha384Messages && std::all_of(blobs.begin(), blobs.end(), isAsLong)) return makeTogether(blobs, key);
  for (const MadeBlob& one : blobs) {
    if (!makeBlob(one, key)) return false;
  }
  return true;
}

// Appends the padding to each piece (PKCS #7), allocates the result, and assigns each blob its part of it.
bool prepare(napi_env env, const std::vector<Piece>& pieces, const Span& sizes, const Span& ivs, const Span& keys,
             std::vector<MadeBlob>* blobs, std::vector<uint8_t>* result) {
  const size_t count = pieces.size();
  if (sizes.size != count * 4 || ivs.size != count * kBlock || keys.size != count * kChunkKey) {
    throwTypeError(env, "each piece needs a size, an iv and a key");
    return false;
  }
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    MadeBlob made;
    const size_t size = readLE32(sizes.data + 4 * i);
    made.data = pieces[i].data;
    made.size = (size / kBlock + 1) * kBlock;
    if (made.size > pieces[i].capacity) {
      throwTypeError(env, "the memory of a piece is too small");
      return false;
    }
    memset(made.data + size, static_cast<int>(made.size - size), made.size - size);
    memcpy(made.iv, ivs.data + i * kBlock, kBlock);
    total += kSha384Digest + chunkTableSize(made.size);
    blobs->push_back(made);
  }
  result->resize(total);
  uint8_t* place = result->data();
  for (size_t i = 0; i < count; i++) {
    (*blobs)[i].result = place;
    memcpy(place + kSha384Digest, keys.data + i * kChunkKey, kChunkKey);
    place += kSha384Digest + chunkTableSize((*blobs)[i].size);
  }
  return true;
}

napi_value jsEncryptBlobs(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  std::vector<Piece> pieces;
  Span sizes, ivs, keys;
  const uint8_t* key;
  bool usesLanes;
  struct Work {
    std::vector<MadeBlob> blobs;
    std::vector<uint8_t> result;
    uint8_t key[kBlock];
  };
  auto making = std::make_shared<Work>();
  if (!readArguments(env, info, 6, arguments) || !readPieces(env, arguments[0], &pieces) ||
      !readBytes(env, arguments[1], "sizes", &sizes) || !readFixedBytes(env, arguments[2], kBlock, "key", &key) ||
      !readBytes(env, arguments[3], "ivs", &ivs) || !readBytes(env, arguments[4], "keys", &keys) ||
      !readBool(env, arguments[5], "usesLanes", &usesLanes) ||
      !prepare(env, pieces, sizes, ivs, keys, &making->blobs, &making->result)) {
    return nullptr;
  }
  memcpy(making->key, key, kBlock);
  const auto work = [making, usesLanes = usesLanes && sha384LaneCount() > 0] {
    return makeBlobs(making->blobs, making->key, usesLanes) ? Outcome()
                                                           : Outcome::failed("OpenSSL failed to make a blob");
  };
  const auto result = [making](napi_env env) { return makeBufferOf(env, std::move(making->result)); };
  return startJob(env, "encryptBlobs", work, result, arguments[0]);
}

}  // namespace

void registerBlobMaking(napi_env env, napi_value exports) {
  if (!hasOpenSsl()) return;
  const napi_property_descriptor members[] = {method("read", jsRead), method("end", jsEnd)};
  setClass(env, exports, "FileDigest", construct, members, sizeof members / sizeof members[0]);
  setFunction(env, exports, "encryptBlobs", jsEncryptBlobs);
}

#else

void registerBlobMaking(napi_env, napi_value) {}

#endif

}  // namespace lbc
