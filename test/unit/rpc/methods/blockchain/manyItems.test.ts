import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { searchRawTransactions } from '../../../../../src/rpc/methods/addressindex/searchRawTransactions.js';
import { getHeaders } from '../../../../../src/rpc/methods/blockchain/getHeaders.js';
import { regtestParams } from '../../../../../src/params/regtest.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import type { JsonValue } from '../../../../../src/util/json/json.js';
import { countTurns } from '../../../../support/slices.js';
import { ADDRESS, ADDRESS_SCRIPT, TestChain } from '../../../../support/testChain.js';

const MANY = 20_000;

describe('methods of lbcd that accept very many items', () => {
  let chain: TestChain;
  let hashes: string[];
  beforeAll(async () => {
    chain = await TestChain.open({ addressIndex: true });
    hashes = [regtestParams.genesisHash, ...(await chain.mine(5, ADDRESS_SCRIPT))].map(hashToHex);
  });
  afterAll(() => chain.close());

  const unknown = (n: number): string => n.toString(16).padStart(64, 'f');
  const count = async (params: JsonValue[]): Promise<number> => {
    const { result } = await chain.call(getHeaders, params);
    return (result as unknown[]).length;
  };

  it('getheaders begins after the first known block, or at the start', async () => {
    expect(await count([[unknown(1), hashes[3]!, hashes[1]!], ''])).toBe(2);
    expect(await count([[unknown(1)], ''])).toBe(5);
    expect(await count([[hashes[1]!], hashes[2]!])).toBe(1);
    expect(await count([[], hashes[2]!])).toBe(1);
    expect(await count([[], unknown(1)])).toBe(0);
    expect(await chain.call(getHeaders, [[hashes[1]!, 'x'], ''])).toMatchObject({ error: { code: -22 } });
  });

  it('getheaders stops searching at the first known block, and parses the rest in slices', async () => {
    const { headers } = chain.services.chain;
    const find = vi.spyOn(headers, 'find');
    const locator = Array.from({ length: MANY }, (_, n) => (n === 100 ? hashes[4]! : unknown(n)));
    const { value, turns } = await countTurns(() => count([locator, '']));
    expect(value).toBe(1);
    expect(turns).toBeGreaterThan(MANY / 1024);
    expect(find.mock.calls.length).toBeLessThanOrEqual(101);
    find.mockRestore();
  });

  it('searchrawtransactions parses its filter in slices', async () => {
    const ask = async (addresses: string[]) =>
      (await chain.call(searchRawTransactions, [ADDRESS, 1, 0, 1, 0, false, addresses])).result as {
        vout: unknown[];
      }[];
    const others = Array.from({ length: MANY }, (_, n) => `other ${n}`);
    const { value, turns } = await countTurns(() => ask(others));
    expect(turns).toBeGreaterThan(MANY / 1024);
    expect(value[0]!.vout).toEqual([]);
    expect((await ask([...others, ADDRESS]))[0]!.vout).toHaveLength(1);
  });
});
