/** The table of paths: each declared path is found, and no other. */
import { describe, expect, it } from 'vitest';
import { ESPLORA_PATHS, matchPath } from '../../../../src/server/esplora/pathTable.js';

describe('the table of paths', () => {
  it('finds each path, with and without its optional parts', () => {
    for (const declared of ESPLORA_PATHS) {
      for (const path of [declared.path.replace(/[()]/g, ''), declared.path.replace(/\(.*\)/, '')]) {
        const found = matchPath(path.replace(/:(\w+)/g, 'x-$1'));
        expect(found?.paths.get(declared.method)).toBe(declared);
        const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
        expect(found?.params).toEqual(Object.fromEntries(names.map((name) => [name, `x-${name}`])));
        expect(names.filter((name) => !(name in declared.params))).toEqual([]);
      }
    }
  });

  it('declares no path twice', () => {
    const all = ESPLORA_PATHS.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, ':')}`);
    expect(new Set(all).size).toBe(all.length);
  });

  it.each([
    '/api',
    '/api/',
    '/api/block',
    '/api/block/',
    '/api/tx/a/b/c',
    '/api/blocks/tip/',
    '/api//mempool',
  ])('finds nothing at %s', (path) => expect(matchPath(path)).toBeNull());
});
