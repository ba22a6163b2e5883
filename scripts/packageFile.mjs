/** `package.json` as it goes into the tarball: an installation builds and fetches nothing. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './native/sources.mjs';

const FILE = join(ROOT, 'package.json');
const KEPT = join(ROOT, 'package.json.kept');
/** They are needed for packing and for development. */
const OWN_FIELDS = ['scripts', 'dependencies', 'devDependencies', 'overrides'];

/** The text of `package.json` without what only its own folder needs. */
export function packedPackageFile(text = readFileSync(FILE, 'utf8')) {
  const fields = Object.entries(JSON.parse(text)).filter(([name]) => !OWN_FIELDS.includes(name));
  return `${JSON.stringify(Object.fromEntries(fields), null, 2)}\n`;
}

export function packageFileForPacking() {
  const text = readFileSync(FILE, 'utf8');
  writeFileSync(KEPT, text);
  writeFileSync(FILE, packedPackageFile(text));
}

/** Undoes it; does nothing when there is nothing to undo. */
export function restorePackageFile() {
  if (existsSync(KEPT)) renameSync(KEPT, FILE);
}
