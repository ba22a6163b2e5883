/**
 * Copies the packages that the program imports, as locked, to `dist/node_modules`, without what is not needed to run them:
 * half of their size. npm itself packs the packages of `bundleDependencies` whole.
 */
import { cpSync, existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { ROOT } from './native/sources.mjs';

export const PACKED_PACKAGES = join(ROOT, 'dist', 'node_modules');

/** Of no use when the program runs, in any package. */
const NEEDLESS_FOLDERS = /^(tests?|docs?|examples?|benchmarks?|coverage|fixtures|node_modules)$/;
const NEEDLESS_EXTENSIONS = new Set([
  ...[
    '.map',
    '.ts',
    '.mts',
    '.cts',
    '.tsbuildinfo',
    '.cc',
    '.cpp',
    '.h',
    '.gyp',
    '.gypi',
    '.md',
    '.yml',
    '.html',
  ],
]);
const LICENCE = /^(licen[cs]e|copying|notice)/i;

/** What else is not needed of these; paths within the package. */
const NEEDLESS_PARTS = {
  '@bufbuild/protobuf': /^dist\/commonjs$/,
  '@opentelemetry/api': /^build\/(esm|esnext)$/,
  bintrees: /^dist$/,
  'classic-level': /^(deps|prebuilds\/(win32|android).*)$/,
  // What of it is asked for when the program runs is the loader.
  'cmake-ts': /^(src|build\/(?!loader\.js$).+|.*\.mts)$/,
  'mediainfo.js': /^(src|dist\/(umd|cjs|esm-bundle|esm\/cli\.js))$/,
  'node-addon-api': /^(?!package\.json$|LICENSE).+$/,
  preact: /^(src|compat|debug|devtools|hooks|test-utils)$/,
  'preact-render-to-string': /^(src|jsx\.js|dist\/(?!index\.mjs$).+)$/,
  secp256k1: /^(src|prebuilds\/win32.*)$/,
  // What of it is asked for, by fetch-blob on old versions of Node, is one file.
  'web-streams-polyfill': /^(es6|es2018|ponyfill|dist\/(?!ponyfill\.es2018\.js$).+)$/,
  // The form for browsers.
  xml2js: /^lib\/xml2js\.bc\.js$/,
  yaml: /^(browser|bin\.mjs)$/,
  // Folders that are named by a number alone are of older releases: its manifest has none of them.
  zeromq: /^(src|script|build\/win32|build\/\w+\/\w+\/node\/\d+|lib\/ts3\.7)$/,
};

/** Folders whose names mislead: they hold what runs. */
const NEEDED_FOLDERS = { yaml: /^dist\/doc$/ };

function isNeeded(name, root, path) {
  const inside = relative(root, path).replaceAll('\\', '/');
  if (inside === '') return true;
  const own = basename(path);
  if (LICENCE.test(own)) return true;
  if (own.startsWith('.') || NEEDLESS_PARTS[name]?.test(inside)) return false;
  if (NEEDED_FOLDERS[name]?.test(inside)) return true;
  return lstatSync(path).isDirectory() ? !NEEDLESS_FOLDERS.test(own) : !NEEDLESS_EXTENSIONS.has(extname(own));
}

/** Returns name, version and licence of each package copied. */
export function copyPackages() {
  rmSync(PACKED_PACKAGES, { recursive: true, force: true });
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([place, { dev }]) => place !== '' && !dev && existsSync(join(ROOT, place)))
    .map(([place, { version, license }]) => {
      const name = place.replace(/^.*node_modules\//, '');
      const root = join(ROOT, place);
      cpSync(root, join(ROOT, 'dist', place), {
        recursive: true,
        filter: (path) => isNeeded(name, root, path),
      });
      return { name, version, license: license ?? 'see its folder' };
    });
}
