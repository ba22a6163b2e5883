import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash160 } from '../../../src/crypto/hash.js';
import {
  checkStandard,
  dustThreshold,
  virtualSize,
  type StandardRules,
} from '../../../src/mempool/policy.js';
import { scriptForDestination, scriptForMultisig } from '../../../src/script/standard.js';
import { policyCases, type PolicyCase } from './policyCases.js';
import { PoolWorld, spendCoins } from './support.js';

describe('a node that requires standard transactions', () => {
  let world: PoolWorld;
  let cases: PolicyCase[];
  beforeAll(async () => {
    world = await PoolWorld.open(101, { requireStandard: true });
    cases = await policyCases(world);
  });
  afterAll(() => world.close());

  it('gives the verdict of the reference in every case', async () => {
    const verdicts: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const { name, tx, expected: wanted } of cases) {
      verdicts[name] = await world.refusal(tx, { testOnly: true });
      expected[name] = wanted;
    }
    expect(verdicts).toEqual(expected);
  });

  it('detects a missing witness', async () => {
    const corruption = async (name: string): Promise<boolean | undefined> =>
      (await world.accept(cases.find((one) => one.name === name)!.tx)).error?.corruption;
    expect(await corruption('a witness that was stripped')).toBe(true);
    expect(await corruption('a signature that is none')).toBe(false);
    expect(await corruption('a witness item of 81 bytes')).toBe(true);
  });
});

describe('standard outputs', () => {
  const rules: StandardRules = {
    maxDataCarrierBytes: 83,
    permitBareMultisig: true,
    dustFeeRatePerKb: 1000n,
  };
  const payTo = (script: Uint8Array) =>
    spendCoins([{ txid: Buffer.alloc(32, 1), n: 0, value: 100_000n }], 0n, { script });
  const key = Buffer.concat([Buffer.of(3), Buffer.alloc(32, 5)]);

  it('depend on the options', () => {
    const multisig = payTo(scriptForMultisig(1, [key]));
    expect(checkStandard(multisig, rules)).toBeNull();
    expect(checkStandard(multisig, { ...rules, permitBareMultisig: false })?.reason).toBe('bare-multisig');
    const data = payTo(Buffer.from('6a0401020304', 'hex'));
    expect(checkStandard(data, rules)).toBeNull();
    expect(checkStandard(data, { ...rules, maxDataCarrierBytes: 6 })).toBeNull();
    expect(checkStandard(data, { ...rules, maxDataCarrierBytes: 5 })?.reason).toBe('scriptpubkey');
    expect(checkStandard(data, { ...rules, maxDataCarrierBytes: null })?.reason).toBe('scriptpubkey');
    const expensive = { ...rules, dustFeeRatePerKb: 550_000n };
    expect(
      checkStandard(payTo(scriptForDestination({ type: 'pubkeyhash', hash: hash160(key) })), expensive),
    ).toMatchObject({ reason: 'dust', rejectCode: 0x41 });
  });

  it('have a dust threshold of the cost of spending them', () => {
    const script = scriptForDestination({ type: 'pubkeyhash', hash: hash160(key) });
    expect(dustThreshold({ value: 0n, script }, 1000n)).toBe(182n);
    expect(dustThreshold({ value: 0n, script }, 3000n)).toBe(546n);
    expect(dustThreshold({ value: 0n, script: Buffer.of(0x6a) }, 1000n)).toBe(0n);
  });
});

it('sizes grow with signature operations', () => {
  expect(virtualSize(400, 0, 20)).toBe(100);
  expect(virtualSize(401, 0, 20)).toBe(101);
  expect(virtualSize(400, 21, 20)).toBe(105);
  expect(virtualSize(400, 21, 0)).toBe(100);
});
