/**
 * The targets for which the addon is prebuilt. The names are those of the folders below `prebuilds/`, as created by
 * `src/native/addonFiles.ts`.
 */

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {NodeJS.Platform} platform
 * @property {string} arch as `process.arch`
 * @property {string} zig as zig calls it; the number after glibc is the oldest supported version
 */

/** Node's own binaries need glibc 2.28 since version 18. @type {readonly Target[]} */
export const PREBUILT_TARGETS = [
  { name: 'linux-x64', platform: 'linux', arch: 'x64', zig: 'x86_64-linux-gnu.2.28' },
  { name: 'linux-x64-musl', platform: 'linux', arch: 'x64', zig: 'x86_64-linux-musl' },
  { name: 'linux-arm64', platform: 'linux', arch: 'arm64', zig: 'aarch64-linux-gnu.2.28' },
  { name: 'linux-arm64-musl', platform: 'linux', arch: 'arm64', zig: 'aarch64-linux-musl' },
  { name: 'darwin-x64', platform: 'darwin', arch: 'x64', zig: 'x86_64-macos.11.0' },
  { name: 'darwin-arm64', platform: 'darwin', arch: 'arm64', zig: 'aarch64-macos.11.0' },
  { name: 'win32-x64', platform: 'win32', arch: 'x64', zig: 'x86_64-windows-gnu' },
];
