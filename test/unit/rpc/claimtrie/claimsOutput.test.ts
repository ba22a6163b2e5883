import { describe, expect, it } from 'vitest';
import { readOutputs } from '../../../../src/rpc/lookup/outputScripts.js';
import { ADDRESS, claimOutput, plainOutput, World } from './world.js';

/** The claims of a name, with their outputs read. */
async function readClaims(world: World, name: string) {
  const services = world.services();
  const { claims } = await services.claims.nameAt({ name: Buffer.from(name), height: world.height });
  return { claims, outputs: await readOutputs(services, claims) };
}

describe('ClaimOutputReader', () => {
  it('reads unspent outputs from the coins, and a spent one from its transaction', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([[], [plainOutput(1n), claimOutput('n', 'abcd', 1n)]]);
    const shown = { value: 'abcd', address: ADDRESS, isPruned: false };
    const unspent = await readClaims(world, 'n');
    expect(unspent.outputs.of(unspent.claims[0]!)).toEqual(shown);
    expect(world.reads).toBe(0);
    await world.mine([[made!.out(1)], [plainOutput(1n)]]);
    const services = world.services();
    const { claims } = await services.claims.nameAt({ name: Buffer.from('n'), height: 1 });
    const outputs = await readOutputs(services, claims);
    expect(outputs.of(claims[0]!)).toEqual(shown);
    expect(world.reads).toBe(1);
  });

  it('reads a transaction once for many of its outputs', async () => {
    const world = new World();
    await world.mine();
    const values = Array.from({ length: 100 }, (_, n) => n.toString(16).padStart(4, '0'));
    await world.mine([[], values.map((value, n) => claimOutput('n', value, BigInt(1000 - n)))]);
    const { claims, outputs } = await readClaims(world, 'n');
    expect(claims.map((claim) => outputs.of(claim).value)).toEqual(values);
    expect(world.reads).toBe(1);
  });

  it('reads an unspent output of a pruned block from the coins, and omits a spent one', async () => {
    const world = new World();
    await world.mine();
    const [made] = await world.mine([[], [claimOutput('n', 'abcd', 1n)]]);
    world.pruned.add(1);
    const unspent = await readClaims(world, 'n');
    expect(unspent.outputs.of(unspent.claims[0]!)).toEqual({
      value: 'abcd',
      address: ADDRESS,
      isPruned: false,
    });
    await world.mine([[made!.out(0)], [plainOutput(1n)]]);
    const services = world.services();
    const { claims } = await services.claims.nameAt({ name: Buffer.from('n'), height: 1 });
    const outputs = await readOutputs(services, claims);
    expect(outputs.of(claims[0]!)).toEqual({ value: undefined, address: undefined, isPruned: true });
    expect(world.reads).toBe(0);
  });

  it('omits the address of a script without an address', async () => {
    const world = new World();
    await world.mine();
    await world.mine([[], [claimOutput('n', '', 1n, Buffer.of(0x51))]]);
    const { claims, outputs } = await readClaims(world, 'n');
    expect(outputs.of(claims[0]!)).toEqual({ value: '', address: undefined, isPruned: false });
  });
});
