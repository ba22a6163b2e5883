/** Random damage to a folder's files, repeatable by its number. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { State } from './scene.js';

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
  | 'other';

/** How many of a hundred cases each kind gets. */
const SHARES: Record<FileKind, number> = {
  log: 16,
  table: 20,
  manifest: 8,
  current: 4,
  journal: 9,
  blk: 15,
  rev: 9,
  mempool: 5,
  fees: 3,
  peers: 3,
  bans: 3,
  other: 5,
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

export interface Damage {
  readonly state: string;
  readonly kind: FileKind;
  /** What was done, for people. */
  readonly what: string;
  /** Whether a folder lies where a file should, which the operator must take away. */
  readonly isFolder: boolean;
  /** Whether the file is gone, or ends earlier than it did. */
  readonly isDeleted: boolean;
  readonly isShorter: boolean;
  /** Path of the file. */
  readonly path: string;
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
    case 'other':
      return [];
  }
}

/** Names that a start reads, writes or removes, and at which something else may lie. */
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
  'chainstate.journal',
  'chainstate/LOG',
  'chainstate/LOG.old',
  'chainstate/LOCK',
  'chainstate/CURRENT.dbtmp',
];

export const SOFT: readonly FileKind[] = ['mempool', 'fees', 'peers', 'bans'];

export function kindOfCase(random: Random, state: State): FileKind {
  for (;;) {
    let at = random.below(100);
    for (const [kind, share] of Object.entries(SHARES) as [FileKind, number][]) {
      at -= share;
      if (at >= 0) continue;
      if (kind === 'other' || filesOf(join(state.folder, 'regtest'), kind).length > 0) return kind;
      break;
    }
  }
}

/** Damages a copy of the state that lies in `dataDir`. */
export function damage(dataDir: string, state: State, random: Random): Damage {
  const folder = join(dataDir, 'regtest');
  const kind = kindOfCase(random, state);
  if (kind === 'other') return damageOther(folder, state, random);
  const path = random.pick(filesOf(folder, kind));
  const done = (what: string, isFolder = false): Damage => ({
    state: state.name,
    kind,
    what,
    isFolder,
    isDeleted: what === 'deleted',
    isShorter: what.startsWith('truncated'),
    path,
  });
  const bytes = readFileSync(path);
  const op = random.below(SOFT.includes(kind) ? 12 : 11);
  if (op < 4 || bytes.length === 0) {
    const at = bytes.length === 0 ? 0 : random.below(bytes.length);
    const bit = random.below(8);
    const flipped = bytes.length === 0 ? Buffer.of(1) : bytes;
    flipped[at]! ^= 1 << bit;
    writeFileSync(path, flipped);
    return done(`bit ${bit} of byte ${at} of ${bytes.length} flipped`);
  }
  if (op < 5) {
    const at = random.below(bytes.length);
    const length = Math.min(bytes.length - at, 1 + random.below(600));
    for (let i = at; i < at + length; i++) bytes[i] = random.below(256);
    writeFileSync(path, bytes);
    return done(`${length} bytes at ${at} of ${bytes.length} overwritten with noise`);
  }
  if (op < 6) {
    const at = random.below(bytes.length);
    const length = Math.min(bytes.length - at, 4096);
    bytes.fill(0, at, at + length);
    writeFileSync(path, bytes);
    return done(`${length} bytes at ${at} of ${bytes.length} zeroed`);
  }
  if (op < 8) {
    const to = random.below(4) === 0 ? 0 : random.below(bytes.length);
    truncateSync(path, to);
    return done(`truncated to ${to} of ${bytes.length}`);
  }
  if (op < 9) {
    rmSync(path);
    return done('deleted');
  }
  if (op < 10) {
    const tail = Buffer.from(Array.from({ length: 1 + random.below(300) }, () => random.below(256)));
    writeFileSync(path, Buffer.concat([bytes, tail]));
    return done(`${tail.length} bytes of noise appended`);
  }
  if (op < 11) {
    const others = filesOf(folder, kind).filter((other) => other !== path);
    const foreign = [...filesOf(folder, 'table'), ...filesOf(folder, 'blk'), ...filesOf(folder, 'peers')];
    const other = random.pick(others.length > 0 ? others : foreign.filter((one) => one !== path));
    const theirs = readFileSync(other);
    writeFileSync(path, theirs);
    writeFileSync(other, bytes);
    return done(`swapped with ${other.slice(folder.length + 1)}`);
  }
  rmSync(path);
  mkdirSync(join(path, 'inside'), { recursive: true });
  return done('made a folder', true);
}

function damageOther(folder: string, state: State, random: Random): Damage {
  const name = random.pick(OTHER_NAMES);
  const path = join(folder, name);
  rmSync(path, { recursive: true, force: true });
  const isFolder = random.below(2) === 0;
  if (isFolder) mkdirSync(join(path, 'inside'), { recursive: true });
  else {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, Buffer.from(Array.from({ length: 50 }, () => random.below(256))));
  }
  const what = `${name} made a ${isFolder ? 'folder' : 'file of noise'}`;
  return { state: state.name, kind: 'other', what, isFolder, isDeleted: false, isShorter: false, path };
}
