/**
 * Compares the address index with a naive walk over the blocks. Random payments between ordinary and claim scripts, and
 * reorganisations, which must leave no rows of disconnected blocks.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptKeyOf } from '../../../src/index/addressScripts.js';
import { getAddressBalance } from '../../../src/rpc/methods/addressindex/getAddressBalance.js';
import { getAddressMempool } from '../../../src/rpc/methods/addressindex/getAddressMempool.js';
import { getAddressTxids } from '../../../src/rpc/methods/addressindex/getAddressTxids.js';
import { getAddressUtxos } from '../../../src/rpc/methods/addressindex/getAddressUtxos.js';
import { parseBlockBytes } from '../../../src/primitives/block.js';
import { formatOutPoint, isCoinbase, txid, type Transaction } from '../../../src/primitives/transaction.js';
import { buildClaimPrefix, buildSupportPrefix } from '../../../src/script/claimScript.js';
import { scriptForPublicKey } from '../../../src/script/standard.js';
import { prefixEnd } from '../../../src/store/rows/rows.js';
import { fromHex, hashToHex, toHex, toLatin1, type Bytes } from '../../../src/util/bytes.js';
import { JsonObject, type JsonValue } from '../../../src/util/json/json.js';
import { ADDRESS, ADDRESS_SCRIPT, OPEN_SCRIPT, spend, TestChain } from '../../support/testChain.js';

/** Different scripts that anyone can spend: a push of a number, a drop, and true. */
const openScript = (n: number): Buffer => Buffer.of(1, n, 0x75, 0x51);
const SCRIPTS = [OPEN_SCRIPT, ...Array.from({ length: 5 }, (_, n) => openScript(n + 20))];
const PUBLIC_KEY = fromHex('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');
const PUBLIC_KEY_ADDRESS = 'mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r';

/** The same numbers at every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Output {
  txid: Buffer;
  n: number;
  value: bigint;
  script: Bytes;
  height: number;
}

/** Results of a walk over all blocks of the active chain for a script. */
interface Found {
  txids: string[];
  unspent: Map<string, Output>;
  received: bigint;
  spent: bigint;
}

async function walk(chain: TestChain): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const outputs = new Map<string, Output>();
  const of = (key: string): Found => {
    let one = found.get(key);
    if (!one) found.set(key, (one = { txids: [], unspent: new Map(), received: 0n, spent: 0n }));
    return one;
  };
  for (let height = 0; height <= chain.opened.chain.height; height++) {
    for (const tx of parseBlockBytes((await chain.blockAt(height)).raw).transactions) {
      const id = hashToHex(txid(tx));
      const note = (script: Bytes): Found | null => {
        const key = scriptKeyOf(script);
        if (key === null) return null;
        const one = of(key);
        if (one.txids.at(-1) !== id) one.txids.push(id);
        return one;
      };
      for (const { prevout } of isCoinbase(tx) ? [] : tx.inputs) {
        const spent = toLatin1(formatOutPoint(prevout));
        const output = outputs.get(spent)!;
        const one = note(output.script);
        if (!one) continue;
        one.spent += output.value;
        one.unspent.delete(spent);
      }
      tx.outputs.forEach(({ value, script }, n) => {
        const output = { txid: txid(tx), n, value, script, height };
        const outPoint = toLatin1(formatOutPoint({ hash: output.txid, index: n }));
        outputs.set(outPoint, output);
        const one = note(script);
        if (!one) return;
        one.received += value;
        one.unspent.set(outPoint, output);
      });
    }
  }
  return found;
}

const query = (fields: Record<string, JsonValue>): JsonObject => new JsonObject(Object.entries(fields));

describe('the address index', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open({ addressIndex: true });
    await chain.mine(110);
  });
  afterAll(() => chain.close());

  const result = async (method: typeof getAddressTxids, params: JsonValue[]): Promise<unknown> => {
    const answer = await chain.call(method, params);
    expect(answer.error).toBeUndefined();
    return answer.result;
  };

  /** Compares all answers for each script with those of the walk, and checks that the index has no other rows. */
  async function compare(): Promise<void> {
    const found = await walk(chain);
    for (const script of [...SCRIPTS, ADDRESS_SCRIPT]) {
      const expected = found.get(scriptKeyOf(script)!);
      const hex = toHex(script);
      expect(await result(getAddressTxids, [hex])).toEqual(expected?.txids ?? []);
      expect(await result(getAddressBalance, [hex])).toEqual({
        balance: Number((expected?.received ?? 0n) - (expected?.spent ?? 0n)),
        received: Number(expected?.received ?? 0n),
        txcount: expected?.txids.length ?? 0,
        unconfirmed: 0,
      });
      const utxos = (await result(getAddressUtxos, [hex])) as { txid: string; outputIndex: number }[];
      const wanted = [...(expected?.unspent.values() ?? [])].map((output) => ({
        address: hex,
        txid: hashToHex(output.txid),
        outputIndex: output.n,
        script: toHex(output.script),
        satoshis: Number(output.value),
        height: output.height,
      }));
      const sorted = (list: { txid: string; outputIndex: number }[]): unknown[] =>
        [...list].sort((a, b) => (a.txid + a.outputIndex < b.txid + b.outputIndex ? -1 : 1));
      expect(sorted(utxos)).toEqual(sorted(wanted));
      expect(await result(getAddressMempool, [hex])).toEqual([]);
    }
    let rows = 0;
    for (const prefix of ['A', 'U', 'S']) {
      for await (const _ of chain.opened.store.range({ gte: prefix, lt: prefixEnd(prefix) })) rows++;
    }
    const counted = [...found.values()].map((one) => one.txids.length + one.unspent.size + 1);
    expect(rows).toBe(counted.reduce((sum, count) => sum + count, 0));
  }

  it('agrees with a scan of the blocks, over payments and reorganisations', async () => {
    const random = randomNumbers(7);
    const core = chain.opened.chain;
    for (let step = 0; step < 25; step++) {
      const found = await walk(chain);
      const spendable = SCRIPTS.flatMap((script) => [
        ...(found.get(scriptKeyOf(script)!)?.unspent.values() ?? []),
      ]).filter(({ height }) => height + 100 < core.height);
      for (let n = 0; n < 4 && spendable.length > 0; n++) {
        const inputs = Array.from(
          { length: 1 + random(3) },
          () => spendable.splice(random(spendable.length), 1)[0],
        ).filter((output) => output !== undefined);
        const sum = inputs.reduce((total, { value }) => total + value, 0n);
        const count = 1 + random(4);
        const outputs = Array.from({ length: count }, () => {
          const script = SCRIPTS[random(SCRIPTS.length)]!;
          const prefixes = [
            Buffer.alloc(0),
            buildClaimPrefix(Buffer.from('name'), Buffer.from('value')),
            buildSupportPrefix(Buffer.from('name'), Buffer.alloc(20, 1)),
          ];
          const prefix = prefixes[random(3)]!;
          return { value: sum / BigInt(count), script: Buffer.concat([prefix, script]) };
        });
        outputs.push({ value: 0n, script: Buffer.from('6a0101', 'hex') });
        const tx: Transaction = spend(inputs, outputs);
        chain.pending.push(tx);
        // Spent again within the block.
        if (random(2) === 0) {
          chain.pending.push(
            spend([{ txid: txid(tx), n: 0 }], [{ value: outputs[0]!.value, script: SCRIPTS[random(6)]! }]),
          );
        }
      }
      await chain.mine(1, SCRIPTS[random(SCRIPTS.length)]!);
      if (step % 5 === 4) {
        const back = core.index.active.at(core.height - random(4));
        await core.invalidateBlock(back);
        await compare();
        if (random(2) === 0) await core.reconsiderBlock(back);
        else await chain.mine(2, ADDRESS_SCRIPT);
      }
    }
    await compare();
  });

  it('pages through history and unspent outputs of several scripts without losing or repeating any', async () => {
    const addresses = SCRIPTS.map((script) => toHex(script));
    for (const [method, list] of [
      [getAddressTxids, 'txids'],
      [getAddressUtxos, 'utxos'],
    ] as const) {
      const whole = (await result(method, [query({ addresses })])) as unknown[];
      expect(whole.length).toBeGreaterThan(20);
      for (const limit of ['1', '7', String(whole.length), '100000']) {
        const pages: unknown[] = [];
        let after: string | undefined;
        do {
          const page = (await result(method, [
            query({ addresses, limit: Number(limit) as never, ...(after ? { after } : {}) }),
          ])) as Record<string, unknown>;
          expect((page[list] as unknown[]).length).toBeLessThanOrEqual(Number(limit));
          pages.push(...(page[list] as unknown[]));
          after = page.next as string | undefined;
        } while (after !== undefined);
        expect(pages).toEqual(whole);
      }
    }
  });

  it('limits the heights and reports amounts', async () => {
    const hex = toHex(OPEN_SCRIPT);
    const all = (await result(getAddressTxids, [query({ addresses: [hex], verbose: true })])) as {
      txid: string;
      height: number;
    }[];
    const some = await result(getAddressTxids, [
      query({ addresses: hex, verbose: true, start: 20 as never, end: 112 as never }),
    ]);
    expect(some).toEqual(all.filter(({ height }) => height >= 20 && height <= 112));
    expect(all[0]).toMatchObject({ height: 1, received: 100_000_000, spent: 0 });
  });

  it('finds a bare public key by its address, and a claim by the script that can spend it', async () => {
    chain.pending.push();
    await chain.mine(1, scriptForPublicKey(PUBLIC_KEY));
    await chain.mine(1, ADDRESS_SCRIPT);
    expect(await result(getAddressUtxos, [PUBLIC_KEY_ADDRESS])).toMatchObject([
      { address: PUBLIC_KEY_ADDRESS, script: toHex(scriptForPublicKey(PUBLIC_KEY)) },
    ]);
    const utxos = (await result(getAddressUtxos, [ADDRESS])) as unknown[];
    expect(utxos.length).toBeGreaterThan(0);
    expect(await result(getAddressUtxos, [[ADDRESS, PUBLIC_KEY_ADDRESS]])).toHaveLength(utxos.length + 1);
    expect(await result(getAddressUtxos, [query({ addresses: [ADDRESS], chainInfo: true })])).toMatchObject({
      height: chain.opened.chain.height,
    });
  });

  it.each([
    ['bad', -5, 'Invalid address: bad'],
    ['', -5, 'Invalid address: '],
    ['6a', -8, 'Outputs with this script are unspendable and not indexed: 6a'],
    [[], -8, 'The list of addresses is empty'],
    [query({}), -8, 'The query object has no member "addresses"'],
    [query({ addresses: [ADDRESS], after: '00' }), -8, '"after" is not a cursor returned as "next": 00'],
    [query({ addresses: [ADDRESS], mempool: 'yes' }), -1, 'JSON value is not a boolean as expected'],
    [
      Array.from({ length: 1001 }, (_, n) => `51${n.toString(16).padStart(4, '0')}`),
      -8,
      'At most 1000 addresses are allowed in one call',
    ],
  ])('refuses %s', async (value, code, message) => {
    for (const method of [getAddressTxids, getAddressUtxos]) {
      expect((await chain.call(method, [value as JsonValue])).error).toEqual({ code, message });
    }
  });

  it('gives advice if there is no index', async () => {
    const bare = await TestChain.open();
    for (const method of [getAddressTxids, getAddressUtxos, getAddressBalance, getAddressMempool]) {
      expect((await bare.call(method, [ADDRESS])).error).toEqual({
        code: -1,
        message: 'The address index is not enabled. Start with -addressindex to use it',
      });
    }
    await bare.close();
  });
});
