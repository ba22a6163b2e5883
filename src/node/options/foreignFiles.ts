/**
 * Finds files of other LBRY nodes in their default locations, which the operator may want this node to use. Checks only
 * whether they exist and does not read them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Default locations of the configuration files of other programs: `<home>/<folder>/<file>`. */
const PROGRAMS = [
  { program: 'lbrycrd', folder: '.lbrycrd', file: 'lbrycrd.conf', hasBlockFiles: true },
  { program: 'lbcd', folder: '.lbcd', file: 'lbcd.conf', hasBlockFiles: false },
] as const;

export interface OwnFiles {
  readonly dataDir: string;
  /** Home folder of the user; null if unknown. */
  readonly home: string | null;
  readonly configFile: string;
  /** Whether this node's configuration file exists. */
  readonly configFound: boolean;
}

/**
 * Returns a line for each file or folder of another program that this node does not use. Always checks this node's data
 * folder. Checks the user's home folder only if this node has no configuration file.
 */
export function foreignHints({ dataDir, home, configFile, configFound }: OwnFiles): string[] {
  return PROGRAMS.flatMap(({ program, folder, file, hasBlockFiles }) => {
    const ours = join(dataDir, file);
    if (ours !== configFile && existsSync(ours))
      return [
        `${ours} is a configuration file of ${program} and is not read; to use it, start with -conf=${ours}`,
      ];
    if (home === null || configFound) return [];
    const theirs = join(home, folder);
    if (theirs === dataDir) return [];
    const uses: string[] = [];
    if (existsSync(join(theirs, file))) uses.push(`its settings with -conf=${join(theirs, file)}`);
    if (hasBlockFiles && existsSync(join(theirs, 'blocks', 'blk00000.dat')))
      uses.push(`its blocks with -loadblock=${join(theirs, 'blocks', 'blk00000.dat')} and so on`);
    return uses.length === 0
      ? []
      : [`${theirs} is the data folder of ${program} and is not used; to use it, take ${uses.join(', ')}`];
  });
}
