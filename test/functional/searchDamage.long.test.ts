/** An index whose file was damaged or deleted while a real node was stopped or killed. Beside `searchFaults.test.ts`. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SearchedNode } from './support/searchedNode.js';

/** Of long claims. */
const TRANSACTIONS = 20;

const searched = new SearchedNode();
beforeAll(() => searched.fill(TRANSACTIONS));
afterAll(() => searched.remove());

describe('the file of the index', () => {
  const damages: Readonly<Record<string, () => void>> = {
    'in which bytes are others': () => {
      const bytes = readFileSync(searched.file);
      for (let at = 20_000; at < bytes.length; at += 40_000) bytes[at]! ^= 0x55;
      writeFileSync(searched.file, bytes);
    },
    'that holds something else': () => writeFileSync(searched.file, Buffer.alloc(300_000, 'something else ')),
    'that is gone': () => rmSync(searched.file),
  };

  it.each(Object.entries(damages))('%s is made anew, with the same answers', async (_what, damage) => {
    const before = await searched.found();
    await searched.node.stop();
    damage();
    await searched.start();
    expect(await searched.found()).toEqual(before);
    expect(searched.node.output()).toContain('The search index is built: ');
  });

  it('that is as it was is not made anew', async () => {
    const before = await searched.found();
    await searched.node.stop();
    await searched.start();
    expect(await searched.found()).toEqual(before);
    expect(searched.node.output()).not.toContain('The search index is built: ');
  });

  it('that was damaged while nobody could see it is made anew when somebody reads it', async () => {
    const before = await searched.found();
    await searched.node.kill();
    const bytes = readFileSync(searched.file);
    // All but what is read at the start, and what nobody sealed.
    bytes.fill(0xff, bytes.length >> 2);
    writeFileSync(searched.file, bytes);
    rmSync(`${searched.file}-wal`, { force: true });
    rmSync(`${searched.file}-shm`, { force: true });
    await searched.start();
    expect(await searched.found()).toEqual(before);
    expect(searched.node.output()).toContain('The search index is built: ');
  });
});
