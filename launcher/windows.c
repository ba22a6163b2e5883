/*
 * The programs of a bundle on Windows; posix.c describes them. Windows cannot replace a running program by another one, so the
 * launcher waits for Node.js and ends with its exit code. A job object ends Node.js when the launcher is killed. Processes that
 * Node.js starts are not in the job.
 */
#define UNICODE 1
#define WIN32_LEAN_AND_MEAN 1
#include <windows.h>
#include <wchar.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_PATH_CHARS 4096

static _Noreturn void fail(const wchar_t *what, const wchar_t *path) {
  fprintf(stderr, "Error: cannot %ls %ls: error %lu of Windows\n", what, path, GetLastError());
  ExitProcess(1);
}

static void join(wchar_t *target, const wchar_t *folder, const wchar_t *name) {
  if (wcslen(folder) + wcslen(name) + 2 > MAX_PATH_CHARS) {
    SetLastError(ERROR_FILENAME_EXCED_RANGE);
    fail(L"use", folder);
  }
  wcscpy(target, folder);
  wcscat(target, L"\\");
  wcscat(target, name);
  for (wchar_t *at = target + wcslen(folder); *at; at++)
    if (*at == L'/') *at = L'\\';
}

static const wchar_t *nameOf(const wchar_t *path) {
  const wchar_t *name = path;
  for (const wchar_t *at = path; *at; at++)
    if (*at == L'\\' || *at == L'/') name = at + 1;
  return name;
}

/* The command line after its first word. For Windows, this word ends at a space or at the second quotation mark. */
static const wchar_t *restOfCommandLine(const wchar_t *line, wchar_t *first) {
  size_t length = 0;
  int quoted = 0;
  for (; *line && (quoted || (*line != L' ' && *line != L'\t')); line++) {
    if (*line == L'"') quoted = !quoted;
    else if (length + 1 < MAX_PATH_CHARS) first[length++] = *line;
  }
  first[length] = 0;
  while (*line == L' ' || *line == L'\t') line++;
  return line;
}

/* Node.js receives the same console event and ends. The launcher waits for it. */
static BOOL WINAPI waitForNode(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
  return TRUE;
}

/* Runs a program to its end. Then ends this process with the exit code of the program. */
static _Noreturn void run(const wchar_t *program, wchar_t *commandLine) {
  HANDLE job = CreateJobObjectW(NULL, NULL);
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK;
  if (job != NULL) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
  STARTUPINFOW startup;
  GetStartupInfoW(&startup);
  // The C library of the parent may pass its open files in these fields. They are not meant for Node.js.
  startup.cbReserved2 = 0;
  startup.lpReserved2 = NULL;
  PROCESS_INFORMATION process;
  SetConsoleCtrlHandler(waitForNode, TRUE);
  if (!CreateProcessW(program, commandLine, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &startup, &process))
    fail(L"start", program);
  if (job != NULL) AssignProcessToJobObject(job, process.hProcess);
  ResumeThread(process.hThread);
  WaitForSingleObject(process.hProcess, INFINITE);
  DWORD code = 1;
  GetExitCodeProcess(process.hProcess, &code);
  ExitProcess(code);
}

/* Returns `"first" "second" rest` in allocated memory. `second` may be NULL. */
static wchar_t *commandLine(const wchar_t *first, const wchar_t *second, const wchar_t *rest) {
  const size_t size = wcslen(first) + (second ? wcslen(second) : 0) + wcslen(rest) + 8;
  wchar_t *line = calloc(size, sizeof *line);
  if (line == NULL) fail(L"start", first);
  wcscat(line, L"\"");
  wcscat(line, first);
  wcscat(line, L"\" ");
  if (second) {
    wcscat(line, L"\"");
    wcscat(line, second);
    wcscat(line, L"\" ");
  }
  wcscat(line, rest);
  return line;
}

static wchar_t own[MAX_PATH_CHARS], folder[MAX_PATH_CHARS], path[MAX_PATH_CHARS], first[MAX_PATH_CHARS];

#ifdef LBC_PAYLOAD
#include "payload.h"

static wchar_t script[MAX_PATH_CHARS];

static void makeFolders(wchar_t *of) {
  for (wchar_t *at = of + 3; *at; at++) {
    if (*at != L'\\') continue;
    *at = 0;
    CreateDirectoryW(of, NULL);
    *at = L'\\';
  }
}

static int isThere(const wchar_t *at, const File *file) {
  WIN32_FILE_ATTRIBUTE_DATA found;
  return GetFileAttributesExW(at, GetFileExInfoStandard, &found) &&
         (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0 &&
         (((uint64_t)found.nFileSizeHigh << 32) | found.nFileSizeLow) == file->size;
}

/* Returns whether the file exists now. Another start may have written it meanwhile. */
static int writeFile(wchar_t *at, const File *file) {
  static wchar_t temporary[MAX_PATH_CHARS];
  if (swprintf(temporary, MAX_PATH_CHARS, L"%ls.%lu.tmp", at, GetCurrentProcessId()) < 0) return 0;
  makeFolders(at);
  HANDLE handle = CreateFileW(temporary, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
  if (handle == INVALID_HANDLE_VALUE) return isThere(at, file);
  uint64_t written = 0;
  while (written < file->size) {
    const uint64_t left = file->size - written;
    DWORD got = 0;
    if (!WriteFile(handle, file->data + written, left < (1u << 24) ? (DWORD)left : 1u << 24, &got, NULL)) break;
    written += got;
  }
  const int whole = written == file->size && FlushFileBuffers(handle);
  CloseHandle(handle);
  if (whole && MoveFileExW(temporary, at, MOVEFILE_REPLACE_EXISTING)) return 1;
  const DWORD error = GetLastError();
  DeleteFileW(temporary);
  SetLastError(error);
  return isThere(at, file);
}

/* Unpacks missing files to the folder `<base>\<name>`, and writes its path to `folder`. Returns whether all files exist. */
static int unpack(const wchar_t *base) {
  char name[MAX_NAME];
  wchar_t wide[MAX_NAME];
  Files files = openFiles(name);
  mbstowcs(wide, name, MAX_NAME);
  join(folder, base, wide);
  File file;
  while (nextFile(&files, &file)) {
    mbstowcs(wide, file.path, MAX_NAME);
    join(path, folder, wide);
    if (!isThere(path, &file) && !writeFile(path, &file)) return 0;
  }
  return 1;
}

static void prepare(void) {
  static wchar_t base[MAX_PATH_CHARS], caches[MAX_PATH_CHARS];
  const DWORD wish = GetEnvironmentVariableW(L"LBCNODE_RUNTIME_DIR", caches, MAX_PATH_CHARS);
  if (wish > 0 && wish < MAX_PATH_CHARS) {
    if (GetFullPathNameW(caches, MAX_PATH_CHARS, base, NULL) == 0 || !unpack(base)) fail(L"unpack the program to", caches);
    return;
  }
  const DWORD length = GetEnvironmentVariableW(L"LOCALAPPDATA", caches, MAX_PATH_CHARS);
  if (length > 0 && length < MAX_PATH_CHARS) {
    join(base, caches, L"lbcnode");
    if (unpack(base)) return;
  }
  wcscpy(base, own);
  base[nameOf(base) - base - 1] = 0;
  if (unpack(base)) return;
  fprintf(stderr, "LBCNODE_RUNTIME_DIR may name a folder that can be written and has 200 MB free.\n");
  fail(L"unpack the program to", folder);
}

int main(void) {
  static wchar_t wideScript[64];
  if (GetModuleFileNameW(NULL, own, MAX_PATH_CHARS) == 0) fail(L"find", L"the program");
  const wchar_t *rest = restOfCommandLine(GetCommandLineW(), first);
  prepare();
  char called[MAX_NAME] = {0};
  wcstombs(called, nameOf(first), MAX_NAME - 1);
  const size_t length = strlen(called);
  if (length > 4 && _stricmp(called + length - 4, ".exe") == 0) called[length - 4] = 0;
  swprintf(wideScript, 64, L"app\\dist\\bin\\%hs.js", programOf(called));
  join(script, folder, wideScript);
  join(path, folder, L"bin\\node.exe");
  // The name of the program in messages; see src/bin/lbcnode.ts.
  SetEnvironmentVariableW(L"LBCNODE_PROGRAM", nameOf(first) == first ? own : first);
  run(path, commandLine(path, script, rest));
}

#else

int main(void) {
  if (GetModuleFileNameW(NULL, own, MAX_PATH_CHARS) == 0) fail(L"find", L"the program");
  const wchar_t *rest = restOfCommandLine(GetCommandLineW(), first);
  wcscpy(folder, own);
  folder[nameOf(folder) - folder - 1] = 0;
  join(path, folder, L"lbrynet.exe");
  if (GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES)
    fprintf(stderr, "%ls needs the file lbrynet.exe of the same archive beside it.\n", nameOf(own));
  run(path, commandLine(own, NULL, rest));
}

#endif
