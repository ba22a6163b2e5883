import { setImmediate as round } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AnswerNotes } from '../../../../src/hub/link/answerNotes.js';
import { Batches } from '../../../../src/threads/batches.js';
import { HubCounters } from '../../../../src/hub/link/hubCounters.js';
import { packKeys, unpackKeys } from '../../../../src/hub/link/portMessages.js';

describe('keys of scripts', () => {
  it('are transferred as bytes', () => {
    const keys = ['\x00'.repeat(16), '\x80\xff'.repeat(8), 'abcdefghijklmnop'];
    const packed = packKeys(keys);
    expect(packed.buffer.byteLength).toBe(48);
    expect([...unpackKeys(structuredClone(packed))]).toEqual(keys);
    expect([...unpackKeys(packKeys([]))]).toEqual([]);
  });
});

describe('Batches', () => {
  it('send the items of one turn together, after urgent ones', async () => {
    const posted: unknown[] = [];
    let wait: Promise<void> | undefined;
    const batches = new Batches<string>({ postMessage: (items) => posted.push(items) }, () => {
      if (wait === undefined) batches.addFirst('first');
      const waited = wait;
      wait = undefined;
      return waited;
    });
    batches.add('a');
    batches.add('b');
    expect(posted).toEqual([]);
    await round();
    await round();
    expect(posted).toEqual([['first', 'a', 'b']]);

    let go = (): void => undefined;
    wait = new Promise<void>((resolve) => (go = resolve));
    batches.add('c');
    await round();
    await round();
    batches.add('d');
    await round();
    expect(posted).toHaveLength(1);
    go();
    await round();
    expect(posted[1]).toEqual(['first', 'c', 'd']);
  });
});

describe('AnswerNotes', () => {
  it('are combined for equal calls', () => {
    const notes = new AnswerNotes();
    for (let n = 0; n < 1000; n++) notes.add('server.ping', null, 0.0123 + n / 1e9);
    notes.add('server.ping', -32603, 0.0123);
    notes.add('blockchain.claimtrie.search', null, 1234.5);
    expect(notes.take()).toEqual([
      ['server.ping', null, 0.012, 1000],
      ['server.ping', -32603, 0.012, 1],
      ['blockchain.claimtrie.search', null, 1200, 1],
    ]);
    expect(notes.take()).toEqual([]);
  });
});

describe('HubCounters', () => {
  it('are visible to every thread with their memory', () => {
    const counters = new HubCounters();
    counters.set('sessions', 5);
    counters.set('unsentBytes', 2 ** 40);
    const others = new HubCounters(counters.memory);
    expect([others.get('sessions'), others.get('unsentBytes'), others.get('waiting')]).toEqual([
      5,
      2 ** 40,
      0,
    ]);
  });
});
