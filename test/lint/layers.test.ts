import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = resolve(dirname(fileURLToPath(import.meta.url)), '../../src');

/** The rank of each module (docs/architecture.md). A file imports only from lower ranks or its own module. */
const RANKS: Readonly<Record<string, number>> = {
  util: 0,
  scheduler: 1,
  native: 1,
  schema: 1,
  sqlite: 1,
  crypto: 2,
  threads: 2,
  params: 3,
  primitives: 3,
  script: 4,
  signing: 5,
  claimtrie: 5,
  metadata: 5,
  consensus: 6,
  page: 7,
  client: 7,
  store: 7,
  chain: 8,
  mempool: 9,
  index: 9,
  net: 10,
  search: 10,
  mining: 10,
  wallet: 11,
  interfaces: 12,
  rpc: 13,
  server: 14,
  hub: 14,
  explorer: 15,
  node: 16,
  bin: 16,
  testing: 16,
  'daemon/base': 20,
  'daemon/txo': 21,
  'daemon/content': 21,
  'daemon/media': 21,
  'daemon/dht': 21,
  'daemon/ledger': 22,
  'daemon/blobs': 22,
  'daemon/wallet': 23,
  'daemon/txBuilding': 24,
  'daemon/lists': 24,
  'daemon/resolve': 24,
  'daemon/objects': 23,
  'daemon/exchange': 24,
  'daemon/files': 25,
  'daemon/api': 27,
  'daemon/http': 28,
  'daemon/main': 29,
};

/** Modules of the node that modules of the daemon may import. */
const OPEN_TO_DAEMON: ReadonlySet<string> = new Set([
  'util',
  'scheduler',
  'threads',
  'native',
  'crypto',
  'params',
  'primitives',
  'script',
  'signing',
  'metadata',
  'schema',
  'sqlite',
  'claimtrie',
  'consensus',
]);

/** May only shrink. */
const EXCEPTIONS: readonly string[] = ['bin -> node', 'bin/lbcnet.ts -> daemon/main'];

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function moduleOf(path: string): string {
  const [name, inner] = relative(src, path).split(sep);
  return name === 'daemon' ? `daemon/${inner}` : name!;
}

function mayImport(module: string, other: string): boolean {
  if (module === other) return true;
  const isClosed = module.startsWith('daemon/') && !other.startsWith('daemon/') && !OPEN_TO_DAEMON.has(other);
  return !isClosed && RANKS[other]! < RANKS[module]!;
}

describe('layers', () => {
  const files = filesBelow(src);

  it('knows every module', () => {
    for (const file of files) expect(RANKS, file).toHaveProperty(moduleOf(file));
  });

  it('have the ranks of docs/architecture.md', () => {
    const text = readFileSync(resolve(src, '../docs/architecture.md'), 'utf8');
    const rows = [...text.matchAll(/^\| (\d+) +\| (`[^|]*) \|/gm)].flatMap(([, rank, names]) =>
      [...names!.matchAll(/`([\w/]+)`/g)].map(([, name]) => [name, Number(rank)] as const),
    );
    expect(Object.fromEntries(rows)).toEqual(RANKS);
  });

  it('lets a file import only from lower ranks or its own module', () => {
    const broken: string[] = [];
    const used = new Set<string>();
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
        const module = moduleOf(file);
        const other = moduleOf(resolve(dirname(file), target!));
        if (mayImport(module, other)) continue;
        const short = relative(src, file).split(sep).join('/');
        const exception = EXCEPTIONS.find(
          (known) => known === `${short} -> ${other}` || known === `${module} -> ${other}`,
        );
        if (exception) used.add(exception);
        else broken.push(`${short} -> ${other}`);
      }
    }
    expect(broken).toEqual([]);
    expect(EXCEPTIONS.filter((known) => !used.has(known))).toEqual([]);
  });
});

/** Files whose types have the names of other types, with the reason. */
const SAME_NAMES: readonly (readonly [path: RegExp, reason: string])[] = [
  [
    /^client\//,
    'the public API names its types after what applications know, and imports nothing of the node',
  ],
  [/^explorer\/answers\.ts$/, 'the answers of methods as the thread of the explorer receives them'],
  [/^wallet\/port\.ts$/, 'the payments that `chain` scans for; the wallet does not import `chain`'],
];

describe('classes and exported types', () => {
  it('have different names', () => {
    const filesOf = new Map<string, string[]>();
    for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
      const file = name.split(sep).join('/');
      if (!/\.tsx?$/.test(file) || file.startsWith('metadata/messages/')) continue;
      for (const [, found] of readFileSync(join(src, name), 'utf8').matchAll(
        /^(?:(?:export )?(?:abstract )?class|export (?:interface|type|enum)) (\w+)/gm,
      ))
        filesOf.set(found!, [...(filesOf.get(found!) ?? []), file]);
    }
    expect(filesOf.size).toBeGreaterThan(2000);
    const isAllowed = (file: string): boolean => SAME_NAMES.some(([path]) => path.test(file));
    const shared = [...filesOf].filter(([, files]) => files.length > 1);
    expect(shared.filter(([, files]) => files.filter((file) => !isAllowed(file)).length > 1)).toEqual([]);
    for (const [path] of SAME_NAMES)
      expect(shared.some(([, files]) => files.some((file) => path.test(file)))).toBe(true);
  });
});
