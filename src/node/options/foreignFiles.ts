/** What is in the usual places of other programs of this chain and could be meant for us. Looks, and reads nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Default file locations of the programs: `<home>/<folder>/<file>`. */
const PROGRAMS = [
  { program: 'lbrycrd', folder: '.lbrycrd', file: 'lbrycrd.conf', hasBlockFiles: true },
  { program: 'lbcd', folder: '.lbcd', file: 'lbcd.conf', hasBlockFiles: false },
] as const;

export interface OwnFiles {
  readonly dataDir: string;
  /** Null if there is none. */
  readonly home: string | null;
  readonly configFile: string;
  /** Whether the configuration file is there. */
  readonly configFound: boolean;
}

/**
 * One line for each file or folder of another program that is there and is not used: in our data folder always, in the
 * user's own folder for as long as there is no configuration file of ours.
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
