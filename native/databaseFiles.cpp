// How LevelDB, which lives in an addon of its own (classic-level), reads its table files.
//
// By default it maps up to 1,000 of them into memory. What is read counts as the process's own then, with fifteen pages
// around each that was wanted, so that memory would grow with the database unless very few files were open; and opening
// one again costs more than reading a row. LevelDB has a hook that turns the mapping off, made for its tests: it must be
// called before its environment is set up, that is before the first database is opened.
#include "addon.h"

#ifdef __linux__
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string>
#endif

namespace lbc {

namespace {

#ifdef __linux__

bool endsWith(const char* text, const char* end) {
  const size_t size = strlen(text), endSize = strlen(end);
  return size >= endSize && strcmp(text + size - endSize, end) == 0;
}

// Notes the path of the shared object that holds LevelDB.
int findLevelDb(dl_phdr_info* object, size_t, void* found) {
  if (!endsWith(object->dlpi_name, "/classic-level.node") && !endsWith(object->dlpi_name, "/classic_level.node")) return 0;
  *static_cast<std::string*>(found) = object->dlpi_name;
  return 1;
}

bool turnMappingOff() {
  std::string path;
  dl_iterate_phdr(findLevelDb, &path);
  if (path.empty()) return false;
  void* const object = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!object) return false;
  // EnvPosixTestHelper::SetReadOnlyMMapLimit(int) of namespace leveldb.
  using SetLimit = void (*)(int);
  const auto setLimit =
      reinterpret_cast<SetLimit>(dlsym(object, "_ZN7leveldb18EnvPosixTestHelper20SetReadOnlyMMapLimitEi"));
  if (setLimit) setLimit(0);
  dlclose(object);
  return setLimit != nullptr;
}

#else

bool turnMappingOff() { return false; }

#endif

// Once a process: LevelDB aborts when it is asked again after its environment was set up.
napi_value jsUnmapDatabaseFiles(napi_env env, napi_callback_info) {
  static const bool isOff = turnMappingOff();
  return makeBool(env, isOff);
}

}  // namespace

void registerDatabaseFiles(napi_env env, napi_value exports) {
  setFunction(env, exports, "unmapDatabaseFiles", jsUnmapDatabaseFiles);
}

}  // namespace lbc
