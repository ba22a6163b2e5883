import { describe, expect, it, vi } from 'vitest';
import { ChainEvents, type ConnectedBlock } from '../../../../src/chain/chainEvents.js';
import { INPUT_STRIDE } from '../../../../src/primitives/blockLayout.js';
import { KeptOutputs } from '../../../../src/rpc/methods/rawtransactions/keptOutputs.js';

const [ONE, TWO] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const PAGE = { count: 1, query: null, states: [null], unspentAt: 0 };

/** A block whose inputs spend outputs of these transactions. */
function blockOf(...spent: Buffer[]): ConnectedBlock {
  const inputs = new Uint32Array(spent.length * INPUT_STRIDE);
  spent.forEach((_, n) => (inputs[n * INPUT_STRIDE] = 32 * n));
  return { raw: Buffer.concat(spent), parsed: { inputs } } as unknown as ConnectedBlock;
}

function keeping(): { events: ChainEvents; kept: KeptOutputs; found(): (string | undefined)[] } {
  const events = new ChainEvents();
  const kept = new KeptOutputs(events);
  kept.keep(ONE, 'page', 'one', PAGE, kept.mark);
  kept.keep(ONE, 'other', 'other', PAGE, kept.mark);
  kept.keep(TWO, 'page', 'two', PAGE, kept.mark);
  const found = () => [
    kept.find(ONE, 'page')?.json.text,
    kept.find(ONE, 'other')?.json.text,
    kept.find(TWO, 'page')?.json.text,
  ];
  return { events, kept, found };
}

describe('cached outputs of gettxinfo', () => {
  it('stay until a block spends one of them', () => {
    const { events, found } = keeping();
    events.emit('blockConnected', blockOf(Buffer.alloc(32, 3)));
    expect(found()).toEqual(['one', 'other', 'two']);
    events.emit('blockConnected', blockOf(Buffer.alloc(32, 3), ONE));
    expect(found()).toEqual([undefined, undefined, 'two']);
  });

  it('are returned with the query and the states for which they are valid', () => {
    const { kept } = keeping();
    expect(kept.find(ONE, 'page')).toMatchObject(PAGE);
    expect(kept.find(ONE, 'page')?.states).toBe(PAGE.states);
  });

  it('are bytes if they are long', () => {
    const { kept } = keeping();
    const long = '\u00e9'.repeat(40_000);
    const made = kept.keep(ONE, 'long', long, PAGE, kept.mark);
    expect(made.pieces?.map(({ length }) => length)).toEqual([80_000]);
    expect(kept.find(ONE, 'long')?.json).toBe(made);
    expect(made.text).toBe(long);
    expect(kept.find(ONE, 'page')?.json.pieces).toBeNull();
  });

  it('do not include a read during which a block was connected or disconnected', () => {
    const { events, kept } = keeping();
    for (const name of ['blockConnected', 'blockDisconnected'] as const) {
      const { mark } = kept;
      events.emit(name, blockOf());
      kept.keep(ONE, 'late', 'late', PAGE, mark);
      expect(kept.find(ONE, 'late')).toBeNull();
    }
  });

  it('are removed when a block is disconnected, or after 16 blocks without a request', () => {
    const disconnected = keeping();
    disconnected.events.emit('blockDisconnected', blockOf());
    expect(disconnected.found()).toEqual([undefined, undefined, undefined]);
    const unused = keeping();
    for (let n = 0; n < 16; n++) unused.events.emit('blockConnected', blockOf());
    expect(unused.found()).toEqual(['one', 'other', 'two']);
    for (let n = 0; n < 17; n++) unused.events.emit('blockConnected', blockOf());
    expect(unused.found()).toEqual([undefined, undefined, undefined]);
  });

  it('are limited in size', () => {
    const { kept, found } = keeping();
    kept.keep(Buffer.alloc(32, 4), 'page', 'x'.repeat((4 << 20) - 512), PAGE, kept.mark);
    expect(found()).toEqual([undefined, undefined, undefined]);
  });

  it('are limited in number, however short they are', () => {
    const { kept } = keeping();
    for (let n = 0; n < (4 << 20) / 512; n++) kept.keep(ONE, `page ${n}`, '[]', PAGE, kept.mark);
    expect(kept.find(TWO, 'page')).toBeNull();
    expect(kept.find(ONE, 'page 0')).toBeNull();
  });
});

describe('cached answers of gettxinfo', () => {
  const FACTS = { block: 7, height: 7, spendIndex: true };
  const FRAME = { before: '{"a":', between: ',"outputs":', after: ',"b":2}' };

  /** A cache with the outputs of a page, and their answer. */
  function answered(outputs: string) {
    const events = new ChainEvents();
    const kept = new KeptOutputs(events);
    const json = kept.keep(ONE, 'page', outputs, PAGE, kept.mark);
    kept.keepAnswer(ONE, 'page', json, FACTS, FRAME, kept.mark);
    return { events, kept };
  }

  it('contain the number of confirmations of each request', () => {
    const { kept } = answered('[1]');
    expect(kept.answerOf(ONE, 'page')).toMatchObject({ page: PAGE, answer: { facts: FACTS } });
    const { answer } = kept.answerOf(ONE, 'page')!;
    expect(answer.at(1).text).toBe('{"a":1,"outputs":[1],"b":2}');
    expect(answer.at(12).text).toBe('{"a":12,"outputs":[1],"b":2}');
    expect(answer.at(12).pieces).toBeNull();
    expect(kept.answerOf(ONE, 'other')).toBeNull();
    expect(kept.answerOf(TWO, 'page')).toBeNull();
  });

  it('share the bytes of long outputs', () => {
    const { kept } = answered(`["${'x'.repeat(40_000)}"]`);
    const [bytes] = kept.find(ONE, 'page')!.json.pieces!;
    const [before, shared, after] = kept.answerOf(ONE, 'page')!.answer.at(3).pieces!;
    expect([before, after]).toEqual(['{"a":3,"outputs":', ',"b":2}']);
    expect(shared).toBe(bytes);
  });

  it('do not decode long outputs', () => {
    const { kept } = answered(`["${'x'.repeat(40_000)}"]`);
    const { json } = kept.find(ONE, 'page')!;
    const decoded = vi.spyOn(json, 'text', 'get');
    kept.answerOf(ONE, 'page')!.answer.at(3);
    expect(decoded).not.toHaveBeenCalled();
  });

  it('are removed with their outputs', () => {
    const { events, kept } = answered('[1]');
    events.emit('blockConnected', blockOf(TWO));
    expect(kept.answerOf(ONE, 'page')).not.toBeNull();
    events.emit('blockConnected', blockOf(ONE));
    expect(kept.answerOf(ONE, 'page')).toBeNull();
  });

  it('do not include an answer with other outputs, or one during which a block was connected', () => {
    const { events, kept } = keeping();
    kept.keepAnswer(ONE, 'page', kept.find(TWO, 'page')!.json, FACTS, FRAME, kept.mark);
    const { mark } = kept;
    events.emit('blockConnected', blockOf());
    kept.keepAnswer(ONE, 'page', kept.find(ONE, 'page')!.json, FACTS, FRAME, mark);
    expect(kept.answerOf(ONE, 'page')).toBeNull();
  });

  it('count for the limit of the size', () => {
    const { kept } = answered('[1]');
    const long = { ...FRAME, between: 'x'.repeat(4 << 20) };
    kept.keepAnswer(ONE, 'page', kept.find(ONE, 'page')!.json, FACTS, long, kept.mark);
    expect(kept.find(ONE, 'page')).toBeNull();
  });
});
