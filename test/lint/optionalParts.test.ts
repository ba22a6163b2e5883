/** A default start loads no part that only an option or a machine without the addon needs. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Targets of the static imports and exports of a file. Imports of types are removed by the compiler and not included. */
function staticImports(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s(?!type\s)(?:[^;'"]*?\sfrom\s)?\s*'([^']+)'/gm);
  return [...statements].map(([, target]) => target!);
}

/** Files below `src` and packages that these files load before they run. */
function loadedBy(...files: readonly string[]): Set<string> {
  const loaded = new Set<string>();
  const waiting = files.map((name) => join(SRC, name));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    for (const target of staticImports(path)) {
      if (!target.startsWith('.')) loaded.add(target);
      else waiting.push(resolve(dirname(path), target).replace(/\.js$/, '.ts'));
    }
  }
  return new Set([...loaded].map((path) => path.replace(SRC, '')));
}

it('a start loads neither PostgreSQL search nor a second LevelDB', () => {
  const programs = readdirSync(join(SRC, 'bin')).filter((name) => name.endsWith('.ts'));
  const loaded = loadedBy(
    ...programs.map((name) => `bin/${name}`),
    // Loaded by `lbcnet`, by `lbcnet start`, and by a start with -claimsearch.
    'daemon/main/program.ts',
    'daemon/main/runDaemon.ts',
    'node/services/claimSearch.ts',
  );
  // Checks that the search for imports works: it finds a deep module of the node, and a package.
  for (const expected of ['store/leveldb/packageLevelDb.ts', 'search/sqlite/searchWorkers.ts', 'fastify'])
    expect(loaded).toContain(expected);
  expect(
    [...loaded].filter((name) => /postgres/i.test(name) || name === 'pg' || name === 'classic-level'),
  ).toEqual([]);
});

it('a command of lbcnet does not load the daemon', () => {
  // `bin/lbcnet.ts` loads the program after it has set an option of V8.
  const loaded = [...loadedBy('bin/lbcnet.ts', 'daemon/main/program.ts')];
  expect(loaded).toContain('daemon/main/callDaemon.ts');
  expect(
    loaded.filter((name) => /^(?:fastify|daemon\/(?:ledger|blobs|dht|files|http)\/.*)$/.test(name)),
  ).toEqual([]);
});
