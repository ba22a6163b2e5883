/*
 * The payload of the program `lbrynet` in a bundle: the files of a Node.js runtime and of lbcnode. `scripts/bundle/payload.mjs`
 * writes it. Format, with all numbers in little endian: "LBCFILES", u16 length and text of the folder's name, u32 number of
 * files; for each file u64 offset from the start, u64 size, u8 whether it is executable, u16 length and text of its path; then
 * the contents of the files.
 */
#ifndef LBCNODE_LAUNCHER_PAYLOAD_H
#define LBCNODE_LAUNCHER_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern const unsigned char lbc_payload[];

#define MAX_NAME 256

typedef struct {
  const unsigned char *at;
  uint32_t left;
} Files;

typedef struct {
  const unsigned char *data;
  uint64_t size;
  int executable;
  char path[MAX_NAME];
} File;

static uint64_t number(const unsigned char **at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)(*at)[i] << (8 * i);
  *at += bytes;
  return value;
}

static void text(const unsigned char **at, char *target) {
  const size_t length = (size_t)number(at, 2);
  const size_t kept = length < MAX_NAME ? length : MAX_NAME - 1;
  memcpy(target, *at, kept);
  target[kept] = 0;
  *at += length;
}

/* Copies the name of the folder to `folder`. Returns the list of files, positioned at the first file. */
static Files openFiles(char *folder) {
  Files files = {lbc_payload + 8, 0};
  text(&files.at, folder);
  files.left = (uint32_t)number(&files.at, 4);
  return files;
}

static int nextFile(Files *files, File *file) {
  if (files->left == 0) return 0;
  files->left--;
  file->data = lbc_payload + number(&files->at, 8);
  file->size = number(&files->at, 8);
  file->executable = (int)number(&files->at, 1);
  text(&files->at, file->path);
  return 1;
}

/* The program to run, by the name of this executable. `lbrynet` and any other name run `lbcnet`. */
static const char *programOf(const char *name) {
  if (strcmp(name, "lbcnode") == 0) return "lbcnode";
  if (strcmp(name, "lbcnode-cli") == 0) return "lbcnode-cli";
  return "lbcnet";
}

#endif
