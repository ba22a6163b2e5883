import { describe, expect, it } from 'vitest';
import { Callee } from '../../../src/threads/callee.js';
import { Caller } from '../../../src/threads/caller.js';
import { CrossingErrors } from '../../../src/threads/crossingErrors.js';
import { PIECES_AHEAD, type AnswerItem } from '../../../src/threads/protocol.js';

class KnownError extends Error {
  readonly code: number;
  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}
class Derived extends KnownError {}

const ERRORS = new CrossingErrors(
  [
    {
      kind: 'known',
      type: KnownError,
      fields: (error) => (error as KnownError).code,
      restore: (message, code) => new KnownError(message, code as number),
    },
  ],
  (message) => new Error(`other: ${message}`),
);

async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** A caller and a callee. Messages are cloned, as between threads. The test answers the calls in `calls`. */
function pair() {
  const begun: number[] = [];
  const callee = new Callee((item, transfer) => {
    const crossed = structuredClone(item, { transfer: [...transfer] as ArrayBuffer[] }) as AnswerItem;
    setImmediate(() => caller.receive(crossed));
  });
  const running = new Map<number, ReturnType<typeof callee.begin>>();
  const caller = new Caller({
    post: (item) => {
      if (item[0] !== 'call') return callee.receive(item);
      begun.push(item[1]);
      running.set(item[1], callee.begin(item[1]));
    },
    errors: ERRORS,
    cancelled: () => new Error('gone'),
  });
  return { caller, callee, running, begun };
}

describe('calls between threads', () => {
  it('return their own values, in any order', async () => {
    const { caller, callee, running } = pair();
    const [first, second] = [caller.call('a', [], [], null), caller.call('b', [], [], null)];
    callee.end(running.get(1)!, ['value', 1, undefined, 'second']);
    callee.end(running.get(0)!, ['value', 0, undefined, 'first']);
    expect([await first.value(), await second.value()]).toEqual(['first', 'second']);
    expect(caller.waitingCount).toBe(0);
  });

  it('keep the class and the fields of known errors', async () => {
    const { caller, callee, running } = pair();
    const failures = [new Derived('known', 5), new TypeError('bug'), 'text'].map((error, id) => {
      const answer = caller.call('fail', [], [], null);
      callee.end(running.get(id)!, ['error', id, undefined, ERRORS.cross(error)]);
      return answer.value().catch((caught: unknown) => caught);
    });
    const [known, bug, text] = await Promise.all(failures);
    expect(known).toBeInstanceOf(KnownError);
    expect(known).toMatchObject({ message: 'known', code: 5 });
    expect(bug).toEqual(new Error('other: bug'));
    expect(text).toEqual(new Error('other: text'));
  });

  it('create pieces on demand, and stop when the caller does', async () => {
    const { caller, callee, running } = pair();
    let made = 0;
    let isReleased = false;
    async function* numbers(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield await Promise.resolve(Uint8Array.of(made++));
      } finally {
        isReleased = true;
      }
    }
    const answer = caller.call('numbers', [], [], null);
    const sending = callee.stream(running.get(0)!, numbers());
    await settled();
    expect(made).toBe(1);
    const taken: number[] = [];
    for await (const piece of answer.pieces()) {
      taken.push((piece as Uint8Array)[0]!);
      await settled();
      expect(made).toBe(taken.length === 1 ? 1 : taken.length + PIECES_AHEAD - 1);
      if (taken.length === 4) break;
    }
    expect(taken).toEqual([0, 1, 2, 3]);
    expect(await sending).toBe(false);
    expect(isReleased).toBe(true);
  });

  it('end when the thread ends', async () => {
    const { caller } = pair();
    const value = caller.call('a', [], [], null).value();
    const pieces = caller.call('b', [], [], null).pieces().next();
    caller.endAll(new Error('the thread ended'));
    await expect(value).rejects.toThrow('the thread ended');
    await expect(pieces).rejects.toThrow('the thread ended');
    expect(caller.waitingCount).toBe(0);
    // A late answer is ignored.
    caller.receive(['value', 0, undefined, 'late']);
  });
});
