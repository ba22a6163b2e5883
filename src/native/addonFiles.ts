/**
 * Possible locations of the addon, and how to build one if none fits. A checkout has the addon that `npm run build` built. A
 * package contains prebuilt addons (`scripts/buildPrebuilt.mjs`), because npm may not run scripts during installation; the
 * system, the processor and the C library determine which one is used. An addon built on this machine takes precedence.
 */
import { accessSync, closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { programVersion, projectFile } from '../util/project.js';

const ADDON = 'lbcnode.node';
/** Number of bytes that are read from the start of an executable, to find the name of its loader. */
const PROGRAM_HEAD_BYTES = 4096;

/** Whether the program runs from a checkout of the project, not from a package built from it. */
export function isCheckout(): boolean {
  return existsSync(projectFile('src'));
}

/** Whether Node.js is linked with musl, i.e. its executable contains the name of musl's loader. */
function hasMusl(): boolean {
  if (process.platform !== 'linux') return false;
  const head = Buffer.alloc(PROGRAM_HEAD_BYTES);
  try {
    const fd = openSync(process.execPath, 'r');
    try {
      readSync(fd, head, 0, head.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
  return head.includes('/ld-musl-');
}

let name: string | undefined;

/**
 * Name of the folder in `prebuilds` for this machine, by system, processor and C library, such as `linux-x64` or
 * `linux-arm64-musl`.
 */
export function targetName(): string {
  return (name ??= `${process.platform}-${process.arch}${hasMusl() ? '-musl' : ''}`);
}

/** Folder in the user's cache folder for an addon that the user builds; null if the user has no cache folder. */
function userFolder(): string | null {
  try {
    const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
    return join(caches, 'lbcnode', `${programVersion()}-${targetName()}`);
  } catch {
    return null;
  }
}

/** Paths of the files that may be the addon for this machine, in order of preference. */
export function addonCandidates(): string[] {
  const own = projectFile('build', ADDON);
  if (isCheckout()) return [own];
  const user = userFolder();
  return [own, ...(user === null ? [] : [join(user, ADDON)]), projectFile('prebuilds', targetName(), ADDON)];
}

/**
 * Script that builds the addon, and the folder for the build. Null in a checkout, without the script, or if there is no
 * folder that can be used.
 */
export function addonBuilder(): { script: string; folder: string } | null {
  const script = projectFile('scripts', 'buildNative.mjs');
  if (isCheckout() || !existsSync(script)) return null;
  try {
    accessSync(projectFile(), constants.W_OK);
    return { script, folder: projectFile('build') };
  } catch {
    const folder = userFolder();
    return folder === null ? null : { script, folder };
  }
}

/** Instructions with which the operator can get an addon; empty if only another installation of the program helps. */
export function addonRemedy(): string {
  const builder = addonBuilder();
  let command = '';
  if (isCheckout()) command = 'npm run build';
  else if (builder !== null) {
    command = `${shellWord(process.execPath)} ${shellWord(builder.script)}`;
    if (builder.folder !== projectFile('build')) command += ` ${shellWord(`--out=${builder.folder}`)}`;
  }
  if (command === '') return '';
  return `With a C and a C++ compiler installed (as by ${compilerCommand()}), build it by: ${command}`;
}

function compilerCommand(): string {
  if (process.platform === 'darwin') return '`xcode-select --install`';
  return hasMusl() ? '`apk add g++ linux-headers`' : '`apt install g++`';
}

/** Quotes a text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w./=@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
