import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectedNotes } from '../../../../src/chain/blocks/connectedNotes.js';
import { Chain } from '../../../../src/chain/chain.js';
import { TestChain } from '../../../support/testChain.js';

const id = (n: number): Buffer => Buffer.alloc(32, n);

describe('notes of connected blocks', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'notes-'));
    path = join(folder, 'chainstate.connected');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function noted(...ids: Buffer[]): void {
    const notes = new ConnectedNotes(path);
    for (const one of ids) notes.add(one);
    notes.writeOut();
  }

  it('are known to the next process, except those that were not written', () => {
    const notes = new ConnectedNotes(path);
    notes.add(id(1));
    notes.writeOut();
    notes.add(id(2));
    const next = new ConnectedNotes(path);
    expect([1, 2, 3].map((n) => next.has(id(n)))).toEqual([true, false, false]);
  });

  it('are written without a call of writeOut if many wait', () => {
    const notes = new ConnectedNotes(path);
    for (let n = 0; n < 200; n++) notes.add(id(n));
    expect(statSync(path).size).toBe(128 * 32);
  });

  it('are deleted by a flush, but those of an earlier process only when they were forgotten', () => {
    noted(id(1), id(2));
    const notes = new ConnectedNotes(path);
    notes.add(id(1));
    notes.flushed();
    expect(new ConnectedNotes(path).has(id(2))).toBe(true);
    notes.forgetEarlier();
    expect(notes.has(id(2))).toBe(false);
    notes.flushed();
    expect(new ConnectedNotes(path).has(id(2))).toBe(false);
    notes.close();
    expect(existsSync(path)).toBe(false);
  });

  it('are read if a crash has truncated the last of them', () => {
    noted(id(1), id(2));
    truncateSync(path, 40);
    noted(id(3));
    const notes = new ConnectedNotes(path);
    expect([1, 2, 3].map((n) => notes.has(id(n)))).toEqual([true, false, true]);
  });

  it('are absent if the file cannot be used', () => {
    mkdirSync(path);
    const notes = new ConnectedNotes(path);
    notes.add(id(1));
    notes.writeOut();
    notes.flushed();
    notes.close();
    expect(new ConnectedNotes(path).has(id(1))).toBe(false);
    ConnectedNotes.remove(join(folder, 'chainstate'));
    expect(existsSync(path)).toBe(false);
  });
});

describe('a start after a kill', () => {
  const folders: string[] = [];
  afterEach(() => {
    vi.restoreAllMocks();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  /** A copy of the folder as a kill would leave it. */
  function copyOf(chain: TestChain): string {
    const copy = mkdtempSync(join(tmpdir(), 'killed-'));
    folders.push(copy);
    cpSync(chain.folder, copy, { recursive: true });
    return copy;
  }

  /** Opens the folder. Returns the tip, and for each connected block whether its scripts were verified. */
  async function reopened(folder: string, reindexChainstate = false): Promise<[number, boolean[]]> {
    const checks = vi.spyOn(Chain.prototype, 'checksScripts');
    const chain = await TestChain.open({ folder, reindexChainstate });
    await chain.opened.rebuild?.();
    const verified = checks.mock.results.map(({ value }) => value as boolean);
    checks.mockRestore();
    const { height } = chain.opened.chain;
    await chain.opened.close();
    return [height, verified];
  }

  it('verifies no script of a block that was connected before, unless the chain state is computed again', async () => {
    const chain = await TestChain.open();
    await chain.mine(3);
    const killed = copyOf(chain);
    const corrupt = copyOf(chain);
    const reindexed = copyOf(chain);
    await chain.close();

    expect(await reopened(killed)).toEqual([3, [false, false, false, false]]);
    // The stop has flushed all blocks.
    expect(await reopened(killed)).toEqual([3, []]);

    writeFileSync(join(corrupt, 'chainstate.connected'), Buffer.alloc(128, 7));
    expect(await reopened(corrupt)).toEqual([3, [true, true, true, true]]);
    expect(await reopened(reindexed, true)).toEqual([3, [true, true, true, true]]);
  });
});
