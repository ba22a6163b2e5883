/**
 * Possible locations of the addon, and how to build one if none fits. A checkout has the one built by `npm run build`. A
 * package contains prebuilt ones (`scripts/buildPrebuilt.mjs`), chosen by system, processor and C library, since npm may not
 * run scripts during installation. An addon built on this machine has priority.
 */
import { accessSync, closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { programVersion, projectFile } from '../util/project.js';

const ADDON = 'lbcnode.node';
/** Number of bytes at the start of an executable that contain the name of its loader. */
const PROGRAM_HEAD_BYTES = 4096;

/** Whether this is a checkout of the project, not the package built from it. */
export function isCheckout(): boolean {
  return existsSync(projectFile('src'));
}

/** Whether Node is linked with musl: its executable names musl's loader. */
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

/** System, processor and C library as the folders below `prebuilds` are named: `linux-x64`, `linux-arm64-musl`. */
export function targetName(): string {
  return (name ??= `${process.platform}-${process.arch}${hasMusl() ? '-musl' : ''}`);
}

/** The folder for an addon in the user's home; null without a home. */
function userFolder(): string | null {
  try {
    const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
    return join(caches, 'lbcnode', `${programVersion()}-${targetName()}`);
  } catch {
    return null;
  }
}

/** The files that may be the addon for this machine, in order of preference. */
export function addonCandidates(): string[] {
  const own = projectFile('build', ADDON);
  if (isCheckout()) return [own];
  const user = userFolder();
  return [own, ...(user === null ? [] : [join(user, ADDON)]), projectFile('prebuilds', targetName(), ADDON)];
}

/** The script that builds the addon, and the build folder; null if the script is not included or there is no folder. */
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

/** Instructions for getting an addon; empty if only another installation helps. */
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

/** The text quoted as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w./=@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
