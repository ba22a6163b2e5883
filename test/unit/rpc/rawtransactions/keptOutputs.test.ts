import { describe, expect, it } from 'vitest';
import { ChainEvents, type ConnectedBlock } from '../../../../src/chain/chainEvents.js';
import { INPUT_STRIDE } from '../../../../src/primitives/blockLayout.js';
import { KeptOutputs } from '../../../../src/rpc/methods/rawtransactions/keptOutputs.js';

const [ONE, TWO] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const STATES = [null];

/** A block whose inputs spend outputs of these transactions. */
function blockOf(...spent: Buffer[]): ConnectedBlock {
  const inputs = new Uint32Array(spent.length * INPUT_STRIDE);
  spent.forEach((_, n) => (inputs[n * INPUT_STRIDE] = 32 * n));
  return { raw: Buffer.concat(spent), parsed: { inputs } } as unknown as ConnectedBlock;
}

function keeping(): { events: ChainEvents; kept: KeptOutputs; found(): (string | null)[] } {
  const events = new ChainEvents();
  const kept = new KeptOutputs(events);
  kept.keep(ONE, 'page', STATES, 'one', kept.mark);
  kept.keep(ONE, 'other', STATES, 'other', kept.mark);
  kept.keep(TWO, 'page', STATES, 'two', kept.mark);
  const found = () => [
    kept.find(ONE, 'page', STATES),
    kept.find(ONE, 'other', STATES),
    kept.find(TWO, 'page', STATES),
  ];
  return { events, kept, found };
}

describe('cached outputs of gettxinfo', () => {
  it('stay until a block spends one of them', () => {
    const { events, found } = keeping();
    events.emit('blockConnected', blockOf(Buffer.alloc(32, 3)));
    expect(found()).toEqual(['one', 'other', 'two']);
    events.emit('blockConnected', blockOf(Buffer.alloc(32, 3), ONE));
    expect(found()).toEqual([null, null, 'two']);
  });

  it('are returned only for the same states of claims', () => {
    const { kept } = keeping();
    expect(kept.find(ONE, 'page', [null])).toBeNull();
  });

  it('do not include a read during which a block was connected or disconnected', () => {
    const { events, kept } = keeping();
    for (const name of ['blockConnected', 'blockDisconnected'] as const) {
      const { mark } = kept;
      events.emit(name, blockOf());
      kept.keep(ONE, 'late', STATES, 'late', mark);
      expect(kept.find(ONE, 'late', STATES)).toBeNull();
    }
  });

  it('are removed when a block is disconnected, or after 16 blocks without a request', () => {
    const disconnected = keeping();
    disconnected.events.emit('blockDisconnected', blockOf());
    expect(disconnected.found()).toEqual([null, null, null]);
    const unused = keeping();
    for (let n = 0; n < 16; n++) unused.events.emit('blockConnected', blockOf());
    expect(unused.found()).toEqual(['one', 'other', 'two']);
    for (let n = 0; n < 17; n++) unused.events.emit('blockConnected', blockOf());
    expect(unused.found()).toEqual([null, null, null]);
  });

  it('are limited in size', () => {
    const { kept, found } = keeping();
    kept.keep(Buffer.alloc(32, 4), 'page', STATES, 'x'.repeat(4 << 20), kept.mark);
    expect(found()).toEqual([null, null, null]);
  });
});
