/**
 * Copies the packages that the program imports, in the locked versions, reduced to the files needed to run them: the
 * JavaScript files that the bundler reaches from the program, without comments and indentation, and one native binary per
 * platform. npm itself packs the packages of `bundleDependencies` completely, which is several times as much.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BuildError } from './native/compile.mjs';
import { ROOT } from './native/sources.mjs';

/** @typedef {import('./native/targets.mjs').Target} Target */

const LICENCE = /^(licen[cs]e|copying|notice)/i;
const SCRIPT = /\.[cm]?js$/;
/** Licence comments are kept. Lines are kept short, so that an error can be located by its line. */
export const SHORT_FORM = {
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'inline',
  target: 'node20',
};

const libcOf = ({ name }) => (name.endsWith('-musl') ? 'musl' : 'glibc');

/**
 * The native binary of a package for a machine, found by the rules of node-gyp-build. The dots of its name separate tags;
 * one tag is the C library. A name without that tag fits every C library, and `glibc` is also used for systems with only
 * one. Returns nothing if the package has no binary for the machine; it then runs without one.
 */
function prebuiltFiles(root, target) {
  const folders = existsSync(join(root, 'prebuilds')) ? readdirSync(join(root, 'prebuilds')) : [];
  const folder = folders.find((name) => {
    const [platform, archs] = name.split('-');
    return platform === target.platform && archs.split('+').includes(target.arch);
  });
  if (folder === undefined) return [];
  const names = readdirSync(join(root, 'prebuilds', folder)).filter((name) => name.endsWith('.node'));
  const other = libcOf(target) === 'musl' ? 'glibc' : 'musl';
  const own = names.filter((name) => name.split('.').includes(libcOf(target)));
  const found = own.length > 0 ? own : names.filter((name) => !name.split('.').includes(other));
  return found.map((name) => `prebuilds/${folder}/${name}`);
}

/** Name of the C library that cmake-ts uses for each platform. Source: `src/loader.ts` of cmake-ts. */
const CMAKE_LIBC = { darwin: 'libc', win32: 'msvc' };

/**
 * Finds ZeroMQ's addon for a machine, and the addon's line of the manifest. Chooses the addon for the newest ABI, which the
 * loader tries first. The addon uses Node-API, so older versions of Node load it too.
 */
function zeromqAddon(root, target) {
  const manifest = JSON.parse(readFileSync(join(root, 'build', 'manifest.json'), 'utf8'));
  const fitting = Object.entries(manifest)
    .map(([key, file]) => ({ key, file, config: JSON.parse(key) }))
    .filter(({ config }) => config.os === target.platform && config.arch === target.arch)
    .filter(({ config }) => config.libc === (CMAKE_LIBC[target.platform] ?? libcOf(target)))
    .sort((a, b) => b.config.abi - a.config.abi);
  return fitting[0] === undefined ? [] : [fitting[0]];
}

/**
 * Files other than JavaScript that the program loads at run time: paths within the package, and files with changed contents.
 * @type {Record<string, (root: string, targets: readonly Target[]) => { files: string[], texts?: Record<string, string> }>}
 */
const NATIVE_PARTS = {
  '@photostructure/sqlite': prebuilt,
  'classic-level': prebuilt,
  'mediainfo.js': () => ({ files: ['dist/MediaInfoModule.wasm'] }),
  zeromq: (root, targets) => {
    const addons = targets.flatMap((target) => zeromqAddon(root, target));
    // The loader uses the path separator of the machine that built the addon.
    const lines = addons.map(({ key, file }) => [key, file.replaceAll('\\', '/')]);
    return {
      files: lines.map(([, file]) => `build/${file}`),
      texts: { 'build/manifest.json': JSON.stringify(Object.fromEntries(lines)) },
    };
  },
};

function prebuilt(root, targets) {
  return { files: [...new Set(targets.flatMap((target) => prebuiltFiles(root, target)))] };
}

/** The path of the package that a file belongs to, as `node_modules/a/node_modules/@b/c`. */
function placeOf(file) {
  const parts = file.split('/');
  const last = parts.lastIndexOf('node_modules');
  return parts.slice(0, last + (parts[last + 1].startsWith('@') ? 3 : 2)).join('/');
}

async function copyInto(from, to, files) {
  const { transform } = await import('esbuild');
  for (const file of files) {
    const [source, place] = [join(from, file), join(to, file)];
    mkdirSync(dirname(place), { recursive: true });
    if (SCRIPT.test(file)) {
      // esbuild gets no option `format`, so ES modules stay ES modules and CommonJS stays CommonJS.
      const { code } = await transform(readFileSync(source, 'utf8'), SHORT_FORM);
      writeFileSync(place, code);
    } else cpSync(source, place);
  }
}

/**
 * Copies the needed files of the packages to which these files belong (paths below the project that begin with
 * `node_modules`) into `<into>/node_modules`. Returns name, version and licence of each package, sorted by path. Throws a
 * `BuildError` for a package that is not a dependency.
 * @param {readonly string[]} reached
 * @param {string} into
 * @param {readonly Target[]} targets
 */
export async function copyPackages(reached, into, targets) {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  /** @type {Map<string, string[]>} */
  const byPlace = new Map();
  for (const file of [...reached].sort()) {
    const place = placeOf(file);
    byPlace.set(place, [...(byPlace.get(place) ?? []), file.slice(place.length + 1)]);
  }
  const copied = [];
  for (const [place, files] of byPlace) {
    const { version, license, dev } = packages[place] ?? { dev: true };
    if (dev) throw new BuildError(`the program imports ${place}, which is not a dependency of it`);
    const name = place.replace(/^.*node_modules\//, '');
    const root = join(ROOT, place);
    const licences = readdirSync(root).filter(
      (file) => LICENCE.test(file) && statSync(join(root, file)).isFile(),
    );
    const native = NATIVE_PARTS[name]?.(root, targets) ?? { files: [] };
    await copyInto(root, join(into, place), ['package.json', ...licences, ...files, ...native.files]);
    for (const [file, text] of Object.entries(native.texts ?? {}))
      writeFileSync(join(into, place, file), text);
    copied.push({ name, version, license: license ?? 'see its folder' });
  }
  return copied;
}
