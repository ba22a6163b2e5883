/*
 * The programs of a bundle on Linux and macOS. `lbrynet` contains all files (payload.h). It unpacks missing files to the user's
 * cache folder, and replaces itself by Node.js with the program that its own name selects. Programs such as LBRY Desktop use only
 * the file `lbrynet` of the archive. `lbcnode`, `lbcnode-cli` and `lbcnet` (compiled without LBC_PAYLOAD) replace themselves by
 * the `lbrynet` beside them and keep their own names. A file is written under a temporary name and then renamed, so a killed
 * start leaves no incomplete file, and two starts at the same time do not interfere. Each start checks the sizes of all files,
 * and unpacks files with a wrong size again.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

static _Noreturn void fail(const char *what, const char *path) {
  fprintf(stderr, "Error: cannot %s %s: %s\n", what, path, strerror(errno));
  exit(1);
}

/* The path of this program without symbolic links. */
static void ownPath(char *target) {
#ifdef __APPLE__
  char path[PATH_MAX];
  uint32_t size = sizeof path;
  if (_NSGetExecutablePath(path, &size) != 0 || realpath(path, target) == NULL) fail("find", "the program");
#else
  const ssize_t length = readlink("/proc/self/exe", target, PATH_MAX - 1);
  if (length < 0) fail("read", "/proc/self/exe");
  target[length] = 0;
#endif
}

static const char *nameOf(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Joins two paths. Ends the program if the result exceeds the maximum length of the system. */
static void join(char *target, const char *folder, const char *name) {
  if (snprintf(target, PATH_MAX, "%s/%s", folder, name) < PATH_MAX) return;
  errno = ENAMETOOLONG;
  fail("use", folder);
}

#ifdef LBC_PAYLOAD
#include "payload.h"

/* Creates the parent folders of a path. Returns 0, or -1 with errno. */
static int makeFolders(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    const int made = mkdir(path, 0755);
    *at = '/';
    if (made != 0 && errno != EEXIST && errno != EISDIR && errno != EROFS) return -1;
  }
  return 0;
}

static int isThere(const char *path, const File *file) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISREG(found.st_mode) && (uint64_t)found.st_size == file->size &&
         (!file->executable || (found.st_mode & S_IXUSR) != 0);
}

/* Returns 0, or -1 with errno. */
static int writeFile(char *path, const File *file) {
  char temporary[PATH_MAX];
  if (snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid()) >= (int)sizeof temporary) {
    errno = ENAMETOOLONG;
    return -1;
  }
  if (makeFolders(path) != 0) return -1;
  const int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, file->executable ? 0755 : 0644);
  if (fd < 0) return -1;
  uint64_t written = 0;
  while (written < file->size) {
    const uint64_t left = file->size - written;
    const ssize_t got = write(fd, file->data + written, left < (1u << 24) ? (size_t)left : (size_t)1 << 24);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    written += (uint64_t)got;
  }
  const int reason = errno;
  if (written == file->size && close(fd) == 0 && rename(temporary, path) == 0) return 0;
  const int error = written == file->size ? errno : reason;
  if (written != file->size) close(fd);
  unlink(temporary);
  errno = error;
  return -1;
}

/* Unpacks missing files to the folder `<base>/<name>`, and writes its path to `folder`. Returns 0, or -1 with errno. */
static int unpack(const char *base, char *folder) {
  char name[MAX_NAME];
  Files files = openFiles(name);
  join(folder, base, name);
  File file;
  char path[PATH_MAX];
  int written = 0;
  while (nextFile(&files, &file)) {
    join(path, folder, file.path);
    if (isThere(path, &file)) continue;
    if (writeFile(path, &file) != 0) return -1;
    written = 1;
  }
  // Without this, files could have their full size but no contents after a crash of the machine.
  if (written) sync();
  return 0;
}

/* The user's cache folder. Returns 0 if there is none. */
static int cacheFolder(char *target) {
#ifndef __APPLE__
  const char *caches = getenv("XDG_CACHE_HOME");
  if (caches != NULL && caches[0] == '/') {
    join(target, caches, "lbcnode");
    return 1;
  }
#endif
  const char *home = getenv("HOME");
  if (home == NULL || home[0] != '/') {
    const struct passwd *user = getpwuid(getuid());
    home = user == NULL ? NULL : user->pw_dir;
  }
  if (home == NULL || home[0] != '/') return 0;
#ifdef __APPLE__
  join(target, home, "Library/Caches/lbcnode");
#else
  join(target, home, ".cache/lbcnode");
#endif
  return 1;
}

/* Unpacks to the folder that the user selected, otherwise to the cache folder, otherwise to the folder of the program. */
static void prepare(const char *own, char *folder) {
  char base[PATH_MAX];
  const char *wish = getenv("LBCNODE_RUNTIME_DIR");
  if (wish != NULL && wish[0] != 0) {
    if (realpath(wish, base) == NULL && (mkdir(wish, 0755) != 0 || realpath(wish, base) == NULL)) fail("make", wish);
    if (unpack(base, folder) != 0) fail("unpack the program to", folder);
    return;
  }
  if (cacheFolder(base) && unpack(base, folder) == 0) return;
  snprintf(base, sizeof base, "%.*s", (int)(nameOf(own) - own - 1), own);
  if (unpack(base, folder) == 0) return;
  fprintf(stderr, "LBCNODE_RUNTIME_DIR may name a folder that can be written and has 200 MB free.\n");
  fail("unpack the program to", folder);
}

int main(int argc, char **argv) {
  char own[PATH_MAX], folder[PATH_MAX], node[PATH_MAX], script[PATH_MAX];
  ownPath(own);
  prepare(own, folder);
  const char *called = argc > 0 ? nameOf(argv[0]) : "";
  const char *program = programOf(called);
  char relative[64];
  snprintf(relative, sizeof relative, "app/dist/bin/%s.js", program);
  join(node, folder, "bin/node");
  join(script, folder, relative);
  // The name of the program in messages; see src/bin/lbcnode.ts.
  setenv("LBCNODE_PROGRAM", argc > 0 && strchr(argv[0], '/') != NULL ? argv[0] : own, 1);
  char **arguments = calloc((size_t)argc + 3, sizeof *arguments);
  if (arguments == NULL) fail("start", node);
  arguments[0] = argc > 0 ? argv[0] : own;
  arguments[1] = script;
  for (int i = 1; i < argc; i++) arguments[i + 1] = argv[i];
  execv(node, arguments);
  fail("start", node);
}

#else

int main(int argc, char **argv) {
  char own[PATH_MAX], folder[PATH_MAX], lbrynet[PATH_MAX];
  ownPath(own);
  snprintf(folder, sizeof folder, "%.*s", (int)(nameOf(own) - own - 1), own);
  join(lbrynet, folder, "lbrynet");
  char *none[] = {own, NULL};
  if (argc > 0) argv[0] = own;
  execv(lbrynet, argc > 0 ? argv : none);
  fprintf(stderr, "%s needs the file lbrynet of the same archive beside it.\n", nameOf(own));
  fail("start", lbrynet);
}

#endif
