// The part of libuv that LevelDB's port for Windows uses: locks, conditions and one-time calls, implemented with those of
// Windows. The addon is compiled without Node's own headers.
#pragma once

#include <windows.h>

#include <cassert>
#include <cerrno>
#include <cstdint>

// Windows headers define these names as macros. LevelDB uses the names for its own methods and variables.
#undef DeleteFile
#undef small

typedef SRWLOCK uv_mutex_t;
typedef CONDITION_VARIABLE uv_cond_t;
typedef INIT_ONCE uv_once_t;

#define UV_ONCE_INIT INIT_ONCE_STATIC_INIT

inline int uv_mutex_init(uv_mutex_t* mutex) {
  InitializeSRWLock(mutex);
  return 0;
}
inline void uv_mutex_destroy(uv_mutex_t*) {}
inline void uv_mutex_lock(uv_mutex_t* mutex) { AcquireSRWLockExclusive(mutex); }
inline void uv_mutex_unlock(uv_mutex_t* mutex) { ReleaseSRWLockExclusive(mutex); }

inline int uv_cond_init(uv_cond_t* condition) {
  InitializeConditionVariable(condition);
  return 0;
}
inline void uv_cond_destroy(uv_cond_t*) {}
inline void uv_cond_wait(uv_cond_t* condition, uv_mutex_t* mutex) { SleepConditionVariableSRW(condition, mutex, INFINITE, 0); }
inline void uv_cond_signal(uv_cond_t* condition) { WakeConditionVariable(condition); }
inline void uv_cond_broadcast(uv_cond_t* condition) { WakeAllConditionVariable(condition); }

inline BOOL CALLBACK lbcCallOnce(PINIT_ONCE, PVOID callback, PVOID*) {
  (*reinterpret_cast<void (**)()>(callback))();
  return TRUE;
}
inline void uv_once(uv_once_t* once, void (*callback)()) {
  InitOnceExecuteOnce(once, lbcCallOnce, reinterpret_cast<PVOID>(&callback), nullptr);
}
