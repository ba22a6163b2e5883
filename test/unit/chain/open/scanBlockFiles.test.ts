import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { regtestParams } from '../../../../src/params/regtest.js';
import { START_TIME_SEC, TestChain } from '../../../support/testChain.js';

const DAY_SEC = 86_400;
let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'scan-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** Opens a folder at a time. Returns the height of its tip and the messages. */
async function look(folder: string, timeSec: number): Promise<{ height: number; said: string[] }> {
  const said: string[] = [];
  const chain = await TestChain.open({ folder, timeSec, warn: (message) => void said.push(message) });
  const { height } = chain.opened.chain;
  await chain.opened.close();
  return { height, said };
}

it('blocks that are in the future for a wrong clock are reported, and used with the right clock', async () => {
  const chain = await TestChain.open();
  await chain.mine(5);
  await chain.opened.flusher.flush();
  chain.timeSec += DAY_SEC;
  await chain.mine(3);
  // The copy is in the state after a kill.
  const folder = join(work, 'killed');
  cpSync(chain.folder, folder, { recursive: true });
  await chain.close();

  for (let start = 0; start < 2; start++) {
    const { height, said } = await look(folder, START_TIME_SEC);
    expect(height).toBe(5);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(join(folder, 'blocks', 'blk00000.dat'));
    expect(said[0]).toMatch(/date and time of this computer are wrong, correct them and start again/);
  }
  expect(await look(folder, START_TIME_SEC + DAY_SEC)).toEqual({ height: 8, said: [] });
  // The second start finds no unread blocks.
  expect(await look(folder, START_TIME_SEC + DAY_SEC)).toEqual({ height: 8, said: [] });
});

it('the last block is reported if a flipped bit in its header invalidates its proof of work', async () => {
  const chain = await TestChain.open();
  await chain.mine(5);
  const { index } = chain.opened.chain;
  const folder = join(work, 'killed');
  cpSync(chain.folder, folder, { recursive: true });
  const path = join(folder, 'blocks', 'blk00000.dat');
  const bytes = readFileSync(path);
  const record = bytes.lastIndexOf(Buffer.from(regtestParams.magic));
  const header = bytes.subarray(record + 8, record + 8 + 112);
  // Changes the nonce until the header has valid proof of work, which half of all nonces have on regtest.
  let bit = 0;
  for (; index.checkWorkOf(header) === null; bit++) {
    header.writeUInt32LE((header.readUInt32LE(108) ^ (1 << bit)) >>> 0, 108);
  }
  expect(bit).toBeGreaterThan(0);
  await chain.close();
  writeFileSync(path, bytes);
  const { height, said } = await look(folder, START_TIME_SEC);
  expect(height).toBe(4);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(`${path} contains no complete block from byte ${record} to ${bytes.length}`);
});
