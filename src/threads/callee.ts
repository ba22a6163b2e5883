/** The called side of two threads: runs calls, and sends the chunks of a result at the speed of the caller. */
import type { Transferable } from 'node:worker_threads';
import type { CrossedError } from './crossingErrors.js';
import { Pieces, Transferred, type AnswerItem } from './protocol.js';

/** A call that is being run. */
export class RunningCall {
  readonly id: number;
  isCancelled = false;
  /** Number of chunks that may be sent before the caller asks for more. */
  space = 1;
  private wake: () => void = () => undefined;

  constructor(id: number) {
    this.id = id;
  }

  more(count: number): void {
    this.space += count;
    this.wake();
  }

  cancel(): void {
    this.isCancelled = true;
    this.wake();
  }

  /** Resolves when a chunk may be sent or the call was cancelled; null if either is already the case. */
  waitForSpace(): Promise<void> | null {
    if (this.isCancelled || this.space > 0) return null;
    return new Promise((resolve) => (this.wake = resolve));
  }
}

export class Callee<Note = undefined> {
  private readonly post: (item: AnswerItem<Note>, transfer: readonly Transferable[]) => void;
  private readonly calls = new Map<number, RunningCall>();

  constructor(post: (item: AnswerItem<Note>, transfer: readonly Transferable[]) => void) {
    this.post = post;
  }

  begin(id: number): RunningCall {
    const call = new RunningCall(id);
    this.calls.set(id, call);
    return call;
  }

  /** Handles a message of the caller about a running call: `more` allows further chunks, `cancel` cancels the call. */
  receive(item: readonly ['more', id: number, count: number] | readonly ['cancel', id: number]): void {
    const call = this.calls.get(item[1]);
    if (item[0] === 'more') call?.more(item[2]);
    else call?.cancel();
  }

  /**
   * Sends the chunks of a result. The buffer of a byte chunk is transferred, so it must not be shared. The next chunk is
   * created when the caller has space for it. Resolves to false if the call was cancelled. `outside` runs the wait for
   * space, which does not count as work.
   */
  async stream(
    call: RunningCall,
    pieces: AsyncIterable<unknown>,
    outside: (wait: () => Promise<void>) => Promise<void> = (wait) => wait(),
  ): Promise<boolean> {
    const source = pieces[Symbol.asyncIterator]();
    try {
      for (;;) {
        if (!call.isCancelled && call.space === 0)
          await outside(() => call.waitForSpace() ?? Promise.resolve());
        if (call.isCancelled) return false;
        const { done, value: piece } = await source.next();
        if (done === true) return true;
        call.space--;
        this.post(
          ['piece', call.id, piece],
          piece instanceof Uint8Array ? [piece.buffer as ArrayBuffer] : [],
        );
      }
    } finally {
      await source.return?.();
    }
  }

  /** Sends the last message of a call. */
  end(call: RunningCall, item: AnswerItem<Note>, transfer: readonly Transferable[] = []): void {
    this.calls.delete(call.id);
    this.post(item, transfer);
  }
}

/** Runs a call and sends its outcome to the caller: a value, a `Transferred`, `Pieces`, or the error that the call throws. */
export async function answerCall(
  callee: Callee,
  call: RunningCall,
  work: () => unknown,
  cross: (error: unknown) => CrossedError,
): Promise<void> {
  const { id } = call;
  try {
    const result = await work();
    if (call.isCancelled) callee.end(call, ['gone', id]);
    else if (result instanceof Transferred)
      callee.end(call, ['value', id, undefined, result.value], result.transfer);
    else if (result instanceof Pieces)
      callee.end(call, (await callee.stream(call, result.pieces)) ? ['end', id, undefined] : ['gone', id]);
    else callee.end(call, ['value', id, undefined, result]);
  } catch (error) {
    callee.end(call, ['error', id, undefined, cross(error)]);
  }
}
