import { describe, expect, it } from 'vitest';
import { WriteQueue } from '../../../../src/wallet/store/writeQueue.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';
import type { RowChange } from '../../../../src/store/rows/rowRecords.js';

const noRoom = (): Error => Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
const change = (name: string): RowChange[] => [[name, Buffer.from(name)]];

/** A queue that writes to a list. The disk accepts the writes that `takes` selects. */
function queueOver(takes: (name: string) => boolean): { queue: WriteQueue; written: string[] } {
  const written: string[] = [];
  const write = (kind: string, name: string): void => {
    if (!takes(name)) throw noRoom();
    written.push(`${kind}${name}`);
  };
  const queue = new WriteQueue('/some/wallet.db', {
    append: ([row]) => write('', row![0] as string),
    replace: async ([row]) => write('rewrite ', row![0] as string),
    sync: async () => write('', 'sync'),
  });
  return { queue, written };
}

const ask = (queue: WriteQueue, name: string, { sync = true, isRewrite = false } = {}): Promise<string> =>
  queue.ask(change(name), { sync, isRewrite }).then(
    () => 'written',
    (error: unknown) => {
      expect(error).toBeInstanceOf(EnvironmentError);
      expect((error as Error).message).toMatch(/^\/some\/wallet\.db: no space is left/);
      return 'refused';
    },
  );

describe('WriteQueue', () => {
  it('writes concurrent changes with one sync, and a rewrite separately', async () => {
    const { queue, written } = queueOver(() => true);
    const done = [
      ask(queue, 'a'),
      ask(queue, 'b', { sync: false }),
      ask(queue, 'c', { isRewrite: true }),
      ask(queue, 'd', { sync: false }),
    ];
    expect(await Promise.all(done)).toEqual(['written', 'written', 'written', 'written']);
    expect(written).toEqual(['a', 'b', 'sync', 'rewrite c', 'd']);
    expect(queue.hasFailed).toBe(false);
  });

  it('keeps writes before the first failure, and writes nothing after it', async () => {
    const { queue, written } = queueOver((name) => name !== 'large');
    const done = [ask(queue, 'a'), ask(queue, 'b'), ask(queue, 'large'), ask(queue, 'c')];
    expect(await Promise.all(done)).toEqual(['written', 'written', 'refused', 'refused']);
    expect(written).toEqual(['a', 'b', 'sync']);
    expect(await ask(queue, 'd')).toBe('refused');
    expect(await ask(queue, 'e', { isRewrite: true })).toBe('refused');
    expect(written).toEqual(['a', 'b', 'sync']);
    expect(queue.hasFailed).toBe(true);
  });

  it('acknowledges nothing if the sync fails', async () => {
    const { queue } = queueOver((name) => name !== 'sync');
    const done = [ask(queue, 'a', { sync: false }), ask(queue, 'b')];
    expect(await Promise.all(done)).toEqual(['refused', 'refused']);
    expect(await ask(queue, 'c', { sync: false })).toBe('refused');
  });

  it('writes nothing after a failed rewrite', async () => {
    const { queue, written } = queueOver((name) => name !== 'rewrite');
    const done = [ask(queue, 'a'), ask(queue, 'rewrite', { isRewrite: true }), ask(queue, 'b')];
    expect(await Promise.all(done)).toEqual(['written', 'refused', 'refused']);
    expect(written).toEqual(['a', 'sync']);
  });

  it('continues after a task of its own failed', async () => {
    const { queue, written } = queueOver(() => true);
    const task = queue.alone(async () => {
      written.push('task');
      throw noRoom();
    });
    const later = ask(queue, 'a');
    await expect(task).rejects.toThrow('ENOSPC');
    expect(await later).toBe('written');
    await queue.settled();
    expect(queue.hasFailed).toBe(false);
  });
});
