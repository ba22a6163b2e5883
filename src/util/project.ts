/** The files beside the compiled program: data, the addon, package.json. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE_FILE = 'package.json';

/** The nearest parent folder of this code that is a package; the depth of the code depends on how it was built. */
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

/** The absolute path of a file of the project, given relative to its root. */
export function projectFile(...path: string[]): string {
  return join((root ??= findRoot()), ...path);
}

/** The version of the program, from its package. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(projectFile(PACKAGE_FILE), 'utf8')) as { version: string }).version;
}
