#include "store/database.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "db/snapshot.h"
#include "leveldb/cache.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/value_sink.h"
#include "leveldb/write_batch.h"
#include "napi/napi.h"
#ifndef _WIN32
#include "util/env_posix_test_helper.h"
#endif

#ifndef _WIN32
namespace leveldb {

// Access to a test function of LevelDB. Only this function can turn off the mapping of table files, and only before
// LevelDB creates its environment.
class EnvPosixTest {
 public:
  static void turnMappingOff() { EnvPosixTestHelper::SetReadOnlyMMapLimit(0); }
};

}  // namespace leveldb
#endif

namespace lbc {

namespace {

constexpr uint32_t kNone = 0xffffffff;
constexpr size_t kRowHead = 8;
// Number of bits per key of the bloom filters, as recommended by LevelDB.
constexpr int kFilterBits = 10;
// Maximum size in bytes of one batch of deletions.
constexpr size_t kDeletionBytes = 1 << 20;

class SilentLog : public leveldb::Logger {
 public:
  void Logv(const char*, va_list) override {}
};

// By default LevelDB maps up to 1,000 table files into memory. Mapped pages count as memory of the process, with fifteen
// more pages around each page read, so memory use would grow with the database. A page that a failing disk cannot read
// would end the process with a signal. On Windows LevelDB maps no files.
void readInsteadOfMapping() {
#ifndef _WIN32
  static const bool isOff = (leveldb::EnvPosixTest::turnMappingOff(), true);
  (void)isOff;
#endif
}

void append(Bytes* out, const void* data, size_t size) {
  const auto* from = static_cast<const uint8_t*>(data);
  out->insert(out->end(), from, from + size);
}

void appendLength(Bytes* out, uint32_t length) {
  uint8_t bytes[4];
  writeLE32(bytes, length);
  append(out, bytes, sizeof bytes);
}

// Sink for a value read from LevelDB: appends the value with its length.
class PackedValue : public leveldb::ValueSink {
 public:
  explicit PackedValue(Bytes* out) : out_(out) {}
  void assign(const char* data, size_t size) override {
    appendLength(out_, static_cast<uint32_t>(size));
    append(out_, data, size);
  }

 private:
  Bytes* out_;
};

// Number of the table file that this thread read last. LevelDB does not report in which file a checksum failed.
thread_local uint64_t lastTable = 0;

class NumberedFile : public leveldb::RandomAccessFile {
 public:
  NumberedFile(const std::string& path, leveldb::RandomAccessFile* file)
      : number_(strtoull(path.c_str() + path.rfind('/') + 1, nullptr, 10)), file_(file) {}
  leveldb::Status Read(uint64_t offset, size_t size, leveldb::Slice* result, char* scratch) const override {
    lastTable = number_;
    return file_->Read(offset, size, result, scratch);
  }

 private:
  const uint64_t number_;
  std::unique_ptr<leveldb::RandomAccessFile> file_;
};

class NamingEnv : public leveldb::EnvWrapper {
 public:
  NamingEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}
  leveldb::Status NewRandomAccessFile(const std::string& path, leveldb::RandomAccessFile** result) override {
    leveldb::RandomAccessFile* file = nullptr;
    const leveldb::Status status = target()->NewRandomAccessFile(path, &file);
    *result = status.ok() ? new NumberedFile(path, file) : nullptr;
    return status;
  }
};

// The environment is never destroyed, because databases that are still open at the end of the process use it.
leveldb::Env* namingEnv() {
  static leveldb::Env* const env = new NamingEnv();
  return env;
}

// Adds the name of the table file to a corruption error of a key lookup.
leveldb::Status named(const leveldb::Status& status) {
  if (!status.IsCorruption() || lastTable == 0) return status;
  char name[32];
  snprintf(name, sizeof name, "%06llu.ldb", static_cast<unsigned long long>(lastTable));
  return leveldb::Status::Corruption(name, status.ToString());
}

// A row of a write. The value, `length` bytes, follows the key; a length of kNone marks a deletion.
struct WrittenRow {
  WrittenRow(const leveldb::Slice& key, uint32_t length) : key(key), length(length) {
    for (size_t i = 0; i < sizeof start; i++) start = start << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  bool operator<(const WrittenRow& other) const {
    return start != other.start ? start < other.start : key.compare(other.key) < 0;
  }

  // The first bytes of the key as a number in the order of the keys. Missing bytes count as zeros.
  uint64_t start = 0;
  leveldb::Slice key;
  uint32_t length;
};

// LevelDB's bloom filters, except over parts of a table that contain only rows of `rangeKinds`. Such a part gets a filter that
// matches every key. Its encoding is known to all versions of LevelDB's policy (`KeyMayMatch` in util/bloom.cc), so that any
// program can read the tables.
class RowFilter : public leveldb::FilterPolicy {
 public:
  explicit RowFilter(const std::string& rangeKinds)
      : rangeKinds_(rangeKinds), bloom_(leveldb::NewBloomFilterPolicy(kFilterBits)) {}
  const char* Name() const override { return bloom_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int count, std::string* out) const override {
    const auto isRange = [this](const leveldb::Slice& key) {
      return !key.empty() && rangeKinds_.find(key[0]) != std::string::npos;
    };
    if (std::all_of(keys, keys + count, isRange)) out->append(kMatchesAll, sizeof kMatchesAll);
    else bloom_->CreateFilter(keys, count, out);
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return bloom_->KeyMayMatch(key, filter);
  }

 private:
  // The last byte is the number of probes. A number above 30 matches every key.
  static constexpr char kMatchesAll[2] = {0, 31};

  const std::string rangeKinds_;
  const std::unique_ptr<const leveldb::FilterPolicy> bloom_;
};

leveldb::ReadOptions checked(bool fillCache) {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = fillCache;
  return options;
}

}  // namespace

leveldb::Status Database::open(const std::string& path, const DatabaseOptions& options,
                               std::unique_ptr<Database>* out) {
  readInsteadOfMapping();
  std::unique_ptr<Database> database(new Database());
  database->cache_.reset(leveldb::NewLRUCache(options.cacheBytes));
  database->filter_.reset(new RowFilter(options.rangeKinds));
  database->log_.reset(new SilentLog());
  leveldb::Options settings;
  settings.create_if_missing = true;
  settings.paranoid_checks = true;
  settings.env = namingEnv();
  settings.info_log = database->log_.get();
  settings.block_cache = database->cache_.get();
  settings.filter_policy = database->filter_.get();
  settings.write_buffer_size = options.writeBufferBytes;
  settings.max_file_size = options.fileBytes;
  settings.max_open_files = options.openFiles;
  // Most bytes of the rows are hashes and keys, which do not get smaller.
  settings.compression = leveldb::kNoCompression;
  leveldb::DB* db = nullptr;
  const leveldb::Status status = leveldb::DB::Open(settings, path, &db);
  database->db_.reset(db);
  if (status.ok()) *out = std::move(database);
  return status;
}

Database::~Database() = default;

leveldb::Status Database::get(const leveldb::Slice& key, bool fillCache, Bytes* out) const {
  PackedValue value(out);
  lastTable = 0;
  const leveldb::Status status = db_->Get(checked(fillCache), key, &value);
  if (!status.IsNotFound()) return named(status);
  appendLength(out, kNone);
  return leveldb::Status::OK();
}

leveldb::Iterator* Database::iterate(bool fillCache) const { return db_->NewIterator(checked(fillCache)); }

leveldb::Status Database::write(const std::vector<std::pair<const uint8_t*, size_t>>& pieces, bool isSynced) {
  std::vector<WrittenRow> rows;
  bool isSorted = true;
  for (const auto& piece : pieces) {
    const uint8_t* at = piece.first;
    size_t left = piece.second;
    while (left > 0) {
      const size_t keySize = left < kRowHead ? 0 : readLE32(at);
      const uint32_t length = left < kRowHead ? 0 : readLE32(at + 4);
      const size_t size = kRowHead + keySize + (length == kNone ? 0 : length);
      if (size > left) return leveldb::Status::Corruption("malformed row records were passed to a write");
      rows.push_back(WrittenRow(leveldb::Slice(reinterpret_cast<const char*>(at + kRowHead), keySize), length));
      isSorted = isSorted && (rows.size() == 1 || !(rows.back() < rows[rows.size() - 2]));
      at += size;
      left -= size;
    }
  }
  // LevelDB inserts rows faster in the order of their keys, because each search then reads memory that the last one has read.
  // Changes of the same row keep their order.
  if (!isSorted) std::stable_sort(rows.begin(), rows.end());
  leveldb::WriteBatch batch;
  for (const WrittenRow& row : rows) {
    if (row.length == kNone) {
      batch.Delete(row.key);
    } else {
      batch.Put(row.key, leveldb::Slice(row.key.data() + row.key.size(), row.length));
    }
  }
  leveldb::WriteOptions options;
  options.sync = isSynced;
  return db_->Write(options, &batch);
}

leveldb::Status Database::deleteRange(const KeyBounds& bounds) {
  std::unique_ptr<leveldb::Iterator> rows(iterate(false));
  leveldb::WriteBatch batch;
  size_t bytes = 0;
  for (rows->Seek(bounds.gte); rows->Valid() && rows->key().compare(bounds.lt) < 0; rows->Next()) {
    batch.Delete(rows->key());
    bytes += rows->key().size() + 16;
    if (bytes < kDeletionBytes) continue;
    const leveldb::Status status = db_->Write(leveldb::WriteOptions(), &batch);
    if (!status.ok()) return status;
    batch.Clear();
    bytes = 0;
  }
  if (!rows->status().ok()) return rows->status();
  return bytes == 0 ? leveldb::Status::OK() : db_->Write(leveldb::WriteOptions(), &batch);
}

void Database::compact(const std::string& gte, const std::string& lt) {
  const leveldb::Slice from(gte), to(lt);
  db_->CompactRange(&from, &to);
}

uint64_t Database::approximateSize(const std::string& gte, const std::string& lt) const {
  const leveldb::Range range(gte, lt);
  uint64_t size = 0;
  db_->GetApproximateSizes(&range, 1, &size);
  return size;
}

std::string Database::property(const std::string& name) const {
  std::string value;
  db_->GetProperty(name, &value);
  return value;
}

uint64_t Database::sequence() const {
  const leveldb::Snapshot* now = db_->GetSnapshot();
  const uint64_t number = static_cast<const leveldb::SnapshotImpl*>(now)->number_;
  db_->ReleaseSnapshot(now);
  return number;
}

RangeWalk::RangeWalk(const Database& database, KeyBounds bounds, bool fillCache)
    : bounds_(std::move(bounds)), iterator_(database.iterate(fillCache)) {}

bool RangeWalk::isInside() const {
  if (!iterator_->Valid()) return false;
  return bounds_.isReverse ? iterator_->key().compare(bounds_.gte) >= 0 : iterator_->key().compare(bounds_.lt) < 0;
}

leveldb::Status RangeWalk::read(size_t maxRows, size_t maxBytes, const std::function<bool()>& isLate, Bytes* out) {
  if (isDone_) return leveldb::Status::OK();
  if (!isPlaced_) {
    isPlaced_ = true;
    if (!bounds_.isReverse) {
      iterator_->Seek(bounds_.gte);
    } else {
      iterator_->Seek(bounds_.lt);
      if (iterator_->Valid()) {
        iterator_->Prev();
      } else {
        iterator_->SeekToLast();
      }
    }
  }
  const size_t start = out->size();
  for (size_t rows = 0; rows < maxRows && out->size() - start < maxBytes; rows++) {
    if (!isInside()) {
      isDone_ = true;
      break;
    }
    const leveldb::Slice key = iterator_->key(), value = iterator_->value();
    appendLength(out, static_cast<uint32_t>(key.size()));
    appendLength(out, static_cast<uint32_t>(value.size()));
    append(out, key.data(), key.size());
    append(out, value.data(), value.size());
    if (bounds_.isReverse) {
      iterator_->Prev();
    } else {
      iterator_->Next();
    }
    if (isLate()) break;
  }
  // A corrupt block also ends the iteration, and only the status distinguishes this from the end of the rows.
  return iterator_->status();
}

}  // namespace lbc
