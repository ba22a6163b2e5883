import { describe, expect, it } from 'vitest';
import { scriptKeyOf } from '../../../src/index/addressScripts.js';
import { MempoolAddresses } from '../../../src/index/mempoolAddresses.js';
import { toLatin1 } from '../../../src/util/bytes.js';
import { foreignOutPoint, made, payTo, testKey, transactionOf } from '../../support/ledgerTransactions.js';

describe('MempoolAddresses', () => {
  it('stores a transaction by its payments and spends, until it is removed', () => {
    const [spent, paid] = [testKey('spent'), testKey('paid')].map((key) => payTo(key, 1n).script);
    const { tx, txid } = made(transactionOf([foreignOutPoint('1')], [payTo(testKey('paid'), 1n)]));
    const keys = [spent, paid].map((script) => scriptKeyOf(script!)!);
    const index = new MempoolAddresses();
    expect(index.add(txid, tx, [spent!])).toEqual(keys);
    for (const key of keys) expect([...index.ofScript(key).keys()]).toEqual([toLatin1(txid)]);
    expect(index.transactionsOf(keys)).toEqual([{ txid, arrival: 1 }]);
    index.remove(txid);
    for (const key of keys) expect(index.ofScript(key).size).toBe(0);
    expect(index.scriptKeysOf(txid)).toEqual([]);
  });
});
