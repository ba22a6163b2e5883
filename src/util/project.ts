/** Paths of the project's files outside the compiled program: data, the addon, package.json. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE_FILE = 'package.json';

/** Finds the nearest parent folder of this file that is a package. The depth of this file depends on how it was built. */
function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, PACKAGE_FILE))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`there is no ${PACKAGE_FILE} above the program`);
    folder = above;
  }
  return folder;
}

let root: string | undefined;

/** Absolute path of a file of the project. `path` is relative to the project's root. */
export function projectFile(...path: string[]): string {
  return join((root ??= findRoot()), ...path);
}

/** Version of the program, from its package.json. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(projectFile(PACKAGE_FILE), 'utf8')) as { version: string }).version;
}
