/**
 * Finds files of other programs of this chain in their usual places, which may be meant for this node. Only checks for
 * existence; reads no contents.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Default file locations of the programs: `<home>/<folder>/<file>`. */
const PROGRAMS = [
  { program: 'lbrycrd', folder: '.lbrycrd', file: 'lbrycrd.conf', hasBlockFiles: true },
  { program: 'lbcd', folder: '.lbcd', file: 'lbcd.conf', hasBlockFiles: false },
] as const;

export interface OwnFiles {
  readonly dataDir: string;
  /** The user's home folder; null if there is none. */
  readonly home: string | null;
  readonly configFile: string;
  /** Whether our configuration file exists. */
  readonly configFound: boolean;
}

/**
 * One line for each unused file or folder of another program: always for our data folder, and for the user's home folder if
 * we have no configuration file.
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
      : [`${theirs} is the data folder of ${program} and is not used; take over ${uses.join(', ')}`];
  });
}
