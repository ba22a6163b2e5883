/** The files that are beside the compiled program: data, the addon, the package's own description. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE_FILE = 'package.json';

/** The nearest folder above this code that is a package; how deep the code lies depends on how it was built. */
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

/** The absolute path of a file of the project, given from its top. */
export function projectFile(...path: string[]): string {
  return join((root ??= findRoot()), ...path);
}

/** The version of the program, from its package. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(projectFile(PACKAGE_FILE), 'utf8')) as { version: string }).version;
}
