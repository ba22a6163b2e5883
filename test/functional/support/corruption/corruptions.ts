/** Random corruption of a folder's files. Equal numbers give equal corruptions. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DENIES } from './runner.js';
import type { State } from './fixture.js';

export type FileKind =
  | 'log'
  | 'table'
  | 'manifest'
  | 'current'
  | 'journal'
  | 'blk'
  | 'rev'
  | 'mempool'
  | 'fees'
  | 'peers'
  | 'bans'
  | 'wallet'
  /** The search index, which is rebuilt if it does not match the seal of the last stop. */
  | 'search'
  /** Tables, while the node is running. */
  | 'live'
  /** A name that a start needs but that has no data of value. */
  | 'other'
  | 'folder'
  /** A copy made while the node was running. */
  | 'copy';

/** Number of cases of each kind in a hundred. */
const SHARES: Record<FileKind, number> = {
  log: 12,
  table: 13,
  manifest: 6,
  current: 4,
  journal: 7,
  blk: 12,
  rev: 7,
  mempool: 4,
  fees: 3,
  peers: 3,
  bans: 3,
  wallet: 7,
  search: 2,
  live: 8,
  other: 5,
  folder: 4,
  copy: 5,
};

/** Small steps between 0 and 2^32 by a seed. */
export class Random {
  private state: number;
  constructor(seed: number) {
    this.state = (seed ^ 0x9e3779b9) >>> 0;
    for (let i = 0; i < 8; i++) this.u32();
  }
  /** xorshift32. */
  u32(): number {
    let x = this.state || 1;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return this.state;
  }
  below(limit: number): number {
    return this.u32() % limit;
  }
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

export interface Corruption {
  readonly state: string;
  readonly kind: FileKind;
  /** Description of the corruption for the output. */
  readonly what: string;
  /** Whether a folder or a pipe has the name of a file, so that the operator must remove it. */
  readonly isFolder: boolean;
  /** Whether the file is missing or truncated. */
  readonly isDeleted: boolean;
  readonly isShorter: boolean;
  /** Whether all data that are read are unchanged. */
  readonly isWhole: boolean;
  /** Repairs what an operator can repair without knowing the content of the file; null if nothing can be repaired. */
  readonly mend: (() => void) | null;
  /** Path of the file. */
  readonly path: string;
  /** Corrupts the file while the node is running; null if it is already corrupt. */
  readonly later: (() => void) | null;
}

/** Files of a kind in a network's folder. */
function filesOf(folder: string, kind: FileKind): string[] {
  const database = join(folder, 'chainstate');
  const inside = (dir: string, name: RegExp): string[] =>
    existsSync(dir)
      ? readdirSync(dir)
          .filter((entry) => name.test(entry))
          .map((entry) => join(dir, entry))
      : [];
  switch (kind) {
    case 'log':
      return inside(database, /^\d+\.log$/);
    case 'table':
      return inside(database, /^\d+\.(ldb|sst)$/);
    case 'manifest':
      return inside(database, /^MANIFEST-/);
    case 'current':
      return inside(database, /^CURRENT$/);
    case 'journal':
      return inside(folder, /^chainstate\.journal$/);
    case 'blk':
    case 'rev':
      return inside(join(folder, 'blocks'), new RegExp(`^${kind}\\d+\\.dat$`));
    case 'mempool':
      return inside(folder, /^mempool\.dat$/);
    case 'fees':
      return inside(folder, /^fee_estimates\.dat$/);
    case 'peers':
      return inside(folder, /^peers\.dat$/);
    case 'bans':
      return inside(folder, /^banlist\.dat$/);
    case 'wallet':
      return inside(join(folder, 'wallets'), /^wallet\.db$/);
    case 'search':
      return inside(folder, /^claimsearch\.sqlite(?:-sums|-wal)?$/);
    case 'other':
    case 'live':
    case 'folder':
    case 'copy':
      return [];
  }
}

/** Names that a start reads, writes or removes, and that another object may have. */
const OTHER_NAMES = [
  '.lock',
  'lock/CURRENT',
  'lock/LOG',
  'lbcnode.pid',
  'debug.log',
  'reindexing',
  'mempool.dat.new',
  'mempool-returned.dat',
  'fee_estimates.dat.new',
  'peers.dat.new',
  'banlist.dat.new',
  'chainstate.connected',
  'chainstate.journal',
  'chainstate/LOG',
  'chainstate/LOG.old',
  'chainstate/LOCK',
  'chainstate/CURRENT.dbtmp',
  'chainstate/durable',
  'chainstate/lbcnode',
];

export const SOFT: readonly FileKind[] = ['mempool', 'fees', 'peers', 'bans'];

export function kindOfCase(random: Random, state: State): FileKind {
  for (;;) {
    let at = random.below(100);
    for (const [kind, share] of Object.entries(SHARES) as [FileKind, number][]) {
      at -= share;
      if (at >= 0) continue;
      const needsNone = ['other', 'folder', 'copy', 'live'].includes(kind);
      if (needsNone || filesOf(join(state.folder, 'regtest'), kind).length > 0) return kind;
      break;
    }
  }
}

/** Corrupts the copy of a state in `dataDir`. */
export function corrupt(dataDir: string, state: State, random: Random): Corruption {
  const folder = join(dataDir, 'regtest');
  const kind = kindOfCase(random, state);
  if (kind === 'copy') return copyInParts(folder, state, random);
  if (kind === 'other') return corruptOther(folder, state, random);
  if (kind === 'live') return corruptLater(folder, state, random);
  if (kind === 'folder') return corruptFolder(folder, state, random);
  const path = random.pick(filesOf(folder, kind));
  const bytes = readFileSync(path);
  const ways = bytes.length === 0 ? [grown, gone, ...PLACES] : WAYS;
  const whole = Buffer.from(bytes);
  const done = random.pick(ways)({ folder, kind, path, bytes, random });
  // Only a backup restores a wallet.
  if (kind === 'wallet') {
    const mend = (): void => {
      rmSync(path, { recursive: true, force: true });
      writeFileSync(path, whole);
    };
    return { ...NO_CORRUPTION, state: state.name, kind, path, ...done, mend };
  }
  return { ...NO_CORRUPTION, state: state.name, kind, path, ...done };
}

const NO_CORRUPTION = {
  isFolder: false,
  isDeleted: false,
  isShorter: false,
  isWhole: false,
  mend: null,
  later: null,
};

/** A file and its content. */
interface Target {
  readonly folder: string;
  readonly kind: FileKind;
  readonly path: string;
  readonly bytes: Buffer;
  readonly random: Random;
}

type Done = Pick<Corruption, 'what'> & Partial<Corruption>;
type Way = (target: Target) => Done;

const noise = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

const flipped: Way = ({ path, bytes, random }) => {
  const at = random.below(bytes.length);
  const bit = random.below(8);
  bytes[at]! ^= 1 << bit;
  writeFileSync(path, bytes);
  return { what: `bit ${bit} of byte ${at} of ${bytes.length} flipped` };
};

const overwritten: Way = ({ path, bytes, random }) => {
  const at = random.below(bytes.length);
  const length = Math.min(bytes.length - at, 1 + random.below(600));
  noise(random, length).copy(bytes, at);
  writeFileSync(path, bytes);
  return { what: `${length} bytes at ${at} of ${bytes.length} overwritten with noise` };
};

const zeroed: Way = ({ path, bytes, random }) => {
  const at = random.below(bytes.length);
  const length = Math.min(bytes.length - at, 4096);
  bytes.fill(0, at, at + length);
  writeFileSync(path, bytes);
  return { what: `${length} bytes at ${at} of ${bytes.length} zeroed` };
};

/** The state that journaling file systems leave after a loss of power: the size is on disk, the content is not. */
const zeroTail: Way = ({ path, bytes, random }) => {
  const at = random.below(4) === 0 ? 0 : random.below(bytes.length);
  bytes.fill(0, at);
  writeFileSync(path, bytes);
  return { what: `zeros from ${at} of ${bytes.length} on`, isShorter: true };
};

const grown: Way = ({ path, random }) => {
  const tail = Buffer.alloc(1 + random.below(9000));
  appendFileSync(path, tail);
  return { what: `${tail.length} zeros appended` };
};

const truncated: Way = ({ path, bytes, random }) => {
  const to = random.below(4) === 0 ? 0 : random.below(bytes.length);
  truncateSync(path, to);
  return { what: `truncated to ${to} of ${bytes.length}`, isShorter: true };
};

const gone: Way = ({ path }) => {
  rmSync(path);
  return { what: 'deleted', isDeleted: true };
};

const appended: Way = ({ path, random }) => {
  const tail = noise(random, 1 + random.below(300));
  appendFileSync(path, tail);
  return { what: `${tail.length} bytes of noise appended` };
};

const swapped: Way = ({ folder, kind, path, bytes, random }) => {
  const others = filesOf(folder, kind).filter((other) => other !== path);
  const foreign = [...filesOf(folder, 'table'), ...filesOf(folder, 'blk'), ...filesOf(folder, 'peers')];
  const other = random.pick(others.length > 0 ? others : foreign.filter((one) => one !== path));
  const theirs = readFileSync(other);
  writeFileSync(path, theirs);
  // The folder holds one file of this kind. A change of the other file would be corruption of another kind.
  if (others.length === 0) return { what: `overwritten with ${other.slice(folder.length + 1)}` };
  writeFileSync(other, bytes);
  return { what: `swapped with ${other.slice(folder.length + 1)}` };
};

const folderInPlace: Way = ({ path }) => {
  rmSync(path);
  mkdirSync(join(path, 'inside'), { recursive: true });
  return { what: 'made a folder', isFolder: true };
};

const pipeInPlace: Way = ({ path }) => {
  rmSync(path);
  spawnSync('mkfifo', [path]);
  return { what: 'made a named pipe', isFolder: true };
};

/** The state of a link to a disk that is not mounted. */
const linkInPlace: Way = ({ path, bytes }) => {
  rmSync(path);
  symlinkSync(join(path, '..', 'not-attached', 'file'), path);
  const mend = (): void => {
    rmSync(path, { force: true });
    writeFileSync(path, bytes);
  };
  return { what: 'made a link to nowhere', isDeleted: true, mend };
};

const denied: Way = ({ path, random }) => {
  const mode = random.below(2) === 0 ? 0 : 0o444;
  chmodSync(path, mode);
  return {
    what: `given the mode ${mode.toString(8)}`,
    isWhole: mode !== 0,
    mend: () => existsSync(path) && chmodSync(path, 0o600),
  };
};

/** Replaces a file by another object. */
const PLACES: readonly Way[] = [folderInPlace, pipeInPlace, linkInPlace, ...(DENIES ? [denied] : [])];
const WAYS: readonly Way[] = [
  ...[flipped, flipped, flipped, flipped, overwritten, zeroed, zeroTail, grown, truncated, truncated],
  ...[gone, appended, swapped, ...PLACES],
];

/** Flips bits in tables that the node has open. */
function corruptLater(folder: string, state: State, random: Random): Corruption {
  const path = join(folder, 'chainstate');
  const seeds = Array.from({ length: 1 + random.below(3) }, () => random.u32());
  const later = (): void => {
    for (const seed of seeds) {
      const own = new Random(seed);
      const tables = filesOf(folder, 'table');
      if (tables.length > 0) flipInPlace(own.pick(tables), own);
    }
  };
  const what = `${seeds.length} bits of tables flipped while the node runs`;
  return { ...NO_CORRUPTION, state: state.name, kind: 'live', path, what, later };
}

/** Written to the same file that the node has open. */
function flipInPlace(path: string, random: Random): void {
  const file = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  const at = random.below(fstatSync(file).size);
  readSync(file, byte, 0, 1, at);
  byte[0]! ^= 1 << random.below(8);
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

function corruptOther(folder: string, state: State, random: Random): Corruption {
  const name = random.pick(OTHER_NAMES);
  const path = join(folder, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(join(path, '..'), { recursive: true });
  const bytes = noise(random, 50);
  writeFileSync(path, bytes);
  const target = { folder, kind: 'other' as const, path, bytes, random };
  const way = random.pick([...PLACES, null]);
  const { what, ...done } = way === null ? { what: 'made a file of noise' } : way(target);
  const mend = (): void => rmSync(path, { recursive: true, force: true });
  return { ...NO_CORRUPTION, state: state.name, kind: 'other', path, what: `${name} ${what}`, ...done, mend };
}

/** Removes a folder, makes it inaccessible, or replaces it by a file. */
function corruptFolder(folder: string, state: State, random: Random): Corruption {
  const path = random.pick([join(folder, 'chainstate'), join(folder, 'blocks'), folder]);
  const aside = `${path}.aside`;
  const modes = DENIES ? [0, 0o444, 0o555] : [];
  const way = random.pick<number | 'link' | 'file'>([...modes, 'link', 'file']);
  const done = { ...NO_CORRUPTION, state: state.name, kind: 'folder' as const, path };
  if (typeof way === 'number') {
    chmodSync(path, way);
    return { ...done, what: `given the mode ${way.toString(8)}`, mend: () => chmodSync(path, 0o700) };
  }
  renameSync(path, aside);
  if (way === 'link') symlinkSync(join(path, '..', 'not-attached', 'folder'), path);
  else writeFileSync(path, 'no folder');
  const mend = (): void => {
    if (!existsSync(aside)) return;
    rmSync(path, { recursive: true, force: true });
    renameSync(aside, path);
  };
  return { ...done, what: way === 'link' ? 'made a link to nowhere' : 'made a file', mend };
}

/** All files below a folder, as paths relative to it. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/**
 * A copy made while the node was running. Files that were copied first have an earlier state, and files that were created after
 * their folder was listed are missing.
 */
function copyInParts(folder: string, state: State, random: Random): Corruption {
  const earlier = join(state.earlier, 'regtest');
  const names = [...new Set([...filesBelow(earlier), ...filesBelow(folder)])].sort();
  const rank = new Map(names.map((name) => [name, random.u32()]));
  // Folder by folder, or in random order.
  const byFolder = random.below(2) === 0;
  const place = (name: string): number => (byFolder ? (rank.get(`in ${dirname(name)}`) ?? 0) : 0);
  for (const name of names) rank.set(`in ${dirname(name)}`, random.u32());
  names.sort((a, b) => place(a) - place(b) || rank.get(a)! - rank.get(b)!);
  const first = names.slice(0, 1 + random.below(names.length - 1));
  for (const name of first) {
    rmSync(join(folder, name), { force: true });
    if (existsSync(join(earlier, name))) copyFileSync(join(earlier, name), join(folder, name));
  }
  const what = `${first.length} of ${names.length} files from earlier`;
  return { ...NO_CORRUPTION, state: state.name, kind: 'copy', path: folder, what, isShorter: true };
}
