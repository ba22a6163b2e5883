/**
 * A search index whose file is corrupted or deleted while the node runs, after it was stopped, and after it was killed. See also
 * `searchFaults.test.ts`.
 */
import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS } from './support/node.js';
import { SearchedNode } from './support/searchedNode.js';

/** Number of transactions with long claims. */
const TRANSACTIONS = 20;

const searched = new SearchedNode();
beforeAll(() => searched.fill(TRANSACTIONS));
afterAll(() => searched.remove());

/** Flips one bit at this fraction of the file. */
function flip(share: number): void {
  const bytes = readFileSync(searched.file);
  const at = Math.floor(bytes.length * share);
  const file = openSync(searched.file, 'r+');
  writeSync(file, Buffer.of(bytes[at]! ^ 1), 0, 1, at);
  closeSync(file);
}

describe('the file of the index', () => {
  const corruptions: Readonly<Record<string, () => void>> = {
    'in which bytes are others': () => {
      const bytes = readFileSync(searched.file);
      for (let at = 20_000; at < bytes.length; at += 40_000) bytes[at]! ^= 0x55;
      writeFileSync(searched.file, bytes);
    },
    'that holds something else': () => writeFileSync(searched.file, Buffer.alloc(300_000, 'something else ')),
    'that is gone': () => rmSync(searched.file),
  };

  it.each(Object.entries(corruptions))('%s is rebuilt, with the same answers', async (_what, corrupt) => {
    const before = await searched.found();
    await searched.node.stop();
    corrupt();
    await searched.start();
    expect(await searched.found()).toEqual(before);
    expect(searched.node.output()).toContain('The search index is built: ');
  });

  it('that is unchanged is not rebuilt', async () => {
    const before = await searched.found();
    await searched.node.stop();
    await searched.start();
    expect(await searched.found()).toEqual(before);
    expect(searched.node.output()).not.toContain('The search index is built: ');
  });

  it('with a flipped bit is rebuilt, also after a kill', async () => {
    const before = await searched.found();
    for (let n = 0; n < 3; n++) {
      // A restart moves the content of the log to the file. Otherwise the log could contain the page that is corrupted.
      await searched.node.stop();
      await searched.start();
      expect(await searched.found()).toEqual(before);
      await searched.node.kill();
      flip((n + 0.5) / 3);
      await searched.start();
      expect(await searched.found()).toEqual(before);
      expect(searched.node.output()).toContain(
        'The file of the search index was deleted, because it is corrupt: its page ',
      );
    }
  });

  it('that is unchanged is not rebuilt after a kill', async () => {
    const before = await searched.found();
    await searched.node.rpc('generatetoaddress', [3, ADDRESS]);
    expect(await searched.found()).toEqual(before);
    await searched.node.kill();
    await searched.start();
    expect(await searched.found()).toEqual(before);
    expect(searched.node.output()).not.toContain('The search index is built: ');
  });

  it('in which a bit flips while the node runs is rebuilt automatically', async () => {
    const before = await searched.found();
    flip(0.7);
    while (!searched.node.output().includes('The search index is built: '))
      await searched.node.rpc('getclaimindexinfo');
    expect(searched.node.output()).toContain('The search index is corrupt: its page ');
    expect(await searched.found()).toEqual(before);
  });
});
