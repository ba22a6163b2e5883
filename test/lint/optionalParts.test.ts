/** A default start loads no part that only an option or a machine without the addon needs. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Targets of the static imports and exports of a file; those of types alone are gone when it runs. */
function staticImports(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s(?!type\s)(?:[^;'"]*?\sfrom\s)?\s*'([^']+)'/gm);
  return [...statements].map(([, target]) => target!);
}

/** Files below `src` and packages that the programs load before they run, and a search index in a file. */
function loadedAtStart(): Set<string> {
  const loaded = new Set<string>();
  const waiting = readdirSync(join(SRC, 'bin'))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(SRC, 'bin', name));
  // Loaded by a start with -claimsearch.
  waiting.push(join(SRC, 'node', 'services', 'claimSearch.ts'));
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
  const loaded = loadedAtStart();
  // The walk sees what it should: a module deep in the node, and packages.
  for (const expected of ['store/leveldb/packageLevelDb.ts', 'search/sqlite/searchWorkers.ts', 'fastify'])
    expect(loaded).toContain(expected);
  expect(
    [...loaded].filter((name) => /postgres/i.test(name) || name === 'pg' || name === 'classic-level'),
  ).toEqual([]);
});
