import { describe, expect, it } from 'vitest';
import { HeldOutputs } from '../../../../src/daemon/txBuilding/heldOutputs.js';
import { Txo } from '../../../../src/daemon/txo/txo.js';

const output = (nout: number): Txo =>
  new Txo({
    txid: Buffer.alloc(32, 1),
    nout,
    height: 1,
    amountDewies: 1n,
    script: Buffer.alloc(0),
    firstOutPoint: null,
  });

/** A promise, and the function that resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe('outputs that are held', () => {
  it('are available again to a caller that waited for them', async () => {
    const held = new HeldOutputs();
    const { opened, open } = gate();
    let present = [output(0)];
    const find = (): Promise<Txo[]> => Promise.resolve(present);
    const first = held.with(find, async () => {
      await opened;
      present = [output(1)];
    });
    const second = held.with(find, ([found]) => Promise.resolve(found?.nout));
    open();
    await first;
    expect(await second).toBe(1);
  });

  it('are available again to a caller that was selecting when they were released', async () => {
    const held = new HeldOutputs();
    const { opened, open } = gate();
    let looks = 0;
    await held.with(
      () => Promise.resolve([output(0)]),
      () => Promise.resolve(),
    );
    const looking = held.with(
      async () => {
        looks++;
        if (looks === 1) await opened;
        return looks === 1 ? [output(2)] : [output(3)];
      },
      ([found]) => Promise.resolve(found?.nout),
    );
    await held.with(
      () => Promise.resolve([output(2)]),
      () => Promise.resolve(),
    );
    open();
    expect([await looking, looks]).toEqual([3, 2]);
  });

  it('do not block others, and are released after a failure', async () => {
    const held = new HeldOutputs();
    const { opened, open } = gate();
    const failing = held.with(
      () => Promise.resolve([output(0)]),
      async () => {
        await opened;
        throw new Error('no');
      },
    );
    const other = await held.with(
      () => Promise.resolve([output(1)]),
      () => Promise.resolve('other'),
    );
    open();
    await expect(failing).rejects.toThrow('no');
    const again = await held.with(
      () => Promise.resolve([output(0)]),
      () => Promise.resolve('again'),
    );
    expect([other, again]).toEqual(['other', 'again']);
  });
});
