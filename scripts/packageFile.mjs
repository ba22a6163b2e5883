/** `package.json` as packed into the tarball: an installation builds and downloads nothing. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './native/sources.mjs';

const FILE = join(ROOT, 'package.json');
const KEPT = join(ROOT, 'package.json.kept');
/** Fields of `package.json` that only packing and development need. */
const OWN_FIELDS = ['scripts', 'dependencies', 'devDependencies', 'overrides'];

/** The text of `package.json` without the fields that only a checkout needs. */
export function packedPackageFile(text = readFileSync(FILE, 'utf8')) {
  const fields = Object.entries(JSON.parse(text)).filter(([name]) => !OWN_FIELDS.includes(name));
  return `${JSON.stringify(Object.fromEntries(fields), null, 2)}\n`;
}

export function packageFileForPacking() {
  const text = readFileSync(FILE, 'utf8');
  writeFileSync(KEPT, text);
  writeFileSync(FILE, packedPackageFile(text));
}

/** Restores the original `package.json`; does nothing if it was not replaced. */
export function restorePackageFile() {
  if (existsSync(KEPT)) renameSync(KEPT, FILE);
}
