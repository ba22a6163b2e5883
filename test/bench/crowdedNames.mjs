// Puts crowded names on the regtest chain of a running node: one name with 5,001 claims and 300 supports, a claim with 8,000
// supports, a name with 8,000 claims. Transactions make 250 outputs each. Belongs to rpc.mjs.
import { dist } from './searchClaims.mjs';

const { hash160 } = await dist('crypto/hash.js');
const { regtestParams } = await dist('params/regtest.js');
const { formatTransaction, txid } = await dist('primitives/transaction.js');
const { addressPrefixesOf, encodeDestination } = await dist('script/address.js');
const { buildClaimPrefix, buildSupportPrefix, claimIdOf } = await dist('script/claimScript.js');
const { scriptForDestination } = await dist('script/standard.js');

const prefixes = addressPrefixesOf(regtestParams);
/** Anyone can spend it. */
const OPEN = { type: 'scripthash', hash: hash160(Buffer.of(0x51)) };
const destination = (n) => ({ type: 'pubkeyhash', hash: hash160(Buffer.from(`address ${n}`)) });
const OUTPUTS_A_TRANSACTION = 250;
const TRANSACTIONS_A_BLOCK = 40;
const MATURITY = 101;

/** The printed form of an id. */
const printed = (bytes) => Buffer.from(bytes).reverse().toString('hex');

function spend(hash, outputs) {
  return {
    version: 2,
    lockTime: 0,
    inputs: [
      { prevout: { hash, index: 0 }, scriptSig: Buffer.of(1, 0x51), sequence: 0xffffffff, witness: [] },
    ],
    outputs,
  };
}

/** Mines spendable coinbases. Returns the ids of their transactions in wire order. */
async function makeCoins(rpc, count) {
  const hashes = await rpc('generatetoaddress', [count, encodeDestination(OPEN, prefixes)]);
  await rpc('generatetoaddress', [MATURITY, encodeDestination(destination('none'), prefixes)]);
  const coins = [];
  for (const hash of hashes) {
    const { tx } = await rpc('getblock', [hash]);
    coins.push(Buffer.from(tx[0], 'hex').reverse());
  }
  return coins;
}

/** Sends transactions with many outputs each, and mines them. Returns the ids of the transactions in wire order. */
export class OutputMaker {
  constructor(rpc, coins) {
    this.rpc = rpc;
    this.coins = coins;
    this.next = 0;
    this.elsewhere = encodeDestination(destination('none'), prefixes);
  }

  static async start(rpc, transactions) {
    return new OutputMaker(rpc, await makeCoins(rpc, transactions));
  }

  /** Sends one transaction with one output for each prefix. Returns its id in wire order. */
  async send(prefixes, firstAmountSat = 100_000n, payeeOf = (n) => destination(n % 1000)) {
    const tx = spend(
      this.coins[this.next++],
      prefixes.map((prefix, n) => ({
        value: firstAmountSat + BigInt(n % 7919),
        script: Buffer.concat([prefix, scriptForDestination(payeeOf(n))]),
      })),
    );
    await this.rpc('sendrawtransaction', [Buffer.from(formatTransaction(tx)).toString('hex'), true]);
    return txid(tx);
  }

  async mine() {
    await this.rpc('generatetoaddress', [1, this.elsewhere]);
  }

  /**
   * `outputs`: script prefixes. Each output has a slightly higher amount than the previous one, and pays to one of a thousand
   * addresses or to `payee`.
   */
  async make(
    outputs,
    outputsATransaction = OUTPUTS_A_TRANSACTION,
    payee = null,
    aBlock = TRANSACTIONS_A_BLOCK,
  ) {
    const ids = [];
    for (let at = 0; at < outputs.length; at += outputsATransaction) {
      const some = outputs.slice(at, at + outputsATransaction);
      const tx = spend(
        this.coins[this.next++],
        some.map((prefix, i) => ({
          value: 100_000n + BigInt((at + i) % 7919),
          script: Buffer.concat([prefix, scriptForDestination(payee ?? destination((at + i) % 1000))]),
        })),
      );
      ids.push(txid(tx));
      await this.rpc('sendrawtransaction', [Buffer.from(formatTransaction(tx)).toString('hex'), true]);
      if (ids.length % aBlock === 0) await this.mine();
    }
    await this.mine();
    return ids;
  }
}

const claimPrefix = (name, n) => buildClaimPrefix(Buffer.from(name), Buffer.from(`value ${n} of ${name}`));

export const claimPrefixes = (name, count) => Array.from({ length: count }, (_, n) => claimPrefix(name, n));
export const supportPrefixes = (name, claimIds, count) =>
  Array.from({ length: count }, (_, n) =>
    buildSupportPrefix(Buffer.from(name), claimIds[n % claimIds.length]),
  );
export const claimIdsOf = (txids, count) =>
  Array.from({ length: count }, (_, n) =>
    claimIdOf(txids[Math.floor(n / OUTPUTS_A_TRANSACTION)], n % OUTPUTS_A_TRANSACTION),
  );

/** Makes the names. Returns the names, and claims and transactions of the first name in printed form. */
export async function makeCrowdedNames(rpc) {
  const maker = await OutputMaker.start(rpc, 400);
  // The first claim gets the supports later, so it remains the best one.
  const first = await maker.make(claimPrefixes('crowd', 1));
  const crowd = await maker.make(claimPrefixes('crowd', 5000));
  const ids = claimIdsOf(crowd, 5000);
  await maker.make(
    supportPrefixes(
      'crowd',
      ids.filter((_, n) => n % 10 === 0),
      300,
    ),
  );
  const supported = await maker.make(claimPrefixes('supported', 1));
  const supportedId = claimIdsOf(supported, 1)[0];
  const supports = await maker.make(supportPrefixes('supported', [supportedId], 8000));
  await maker.make(claimPrefixes('many', 8000));
  for (let n = 0; n < 10; n++) await maker.mine();
  return {
    crowd: 'crowd',
    crowdIds: ids.filter((_, n) => n % 50 === 0).map(printed),
    crowdTransactions: crowd.map(printed),
    firstTransaction: printed(first[0]),
    supported: 'supported',
    supportedId: printed(supportedId),
    supportTransactions: supports.map(printed),
    many: 'many',
    /** Sends a transaction with a claim or a support for each of the three names. */
    async changeAll(send) {
      maker.rpc = send;
      const n = maker.next;
      await maker.send([
        claimPrefix('crowd', n),
        buildSupportPrefix(Buffer.from('supported'), supportedId),
        claimPrefix('many', n),
      ]);
    },
  };
}
