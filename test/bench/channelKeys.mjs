// Measures the cost of a key change of a channel: a channel with n and 2n claims changes its key and changes it back. Prints
// the time of its block and of an empty block, the time of the search index, and the times of a search that counts claims by
// channel and of a plain search.
// Usage: node test/bench/channelKeys.mjs [claims]
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { startRegtest } = await dist('testing/index.js');
const { ecdsaBackend } = await dist('crypto/ecdsa.js');
const { hash160, sha256 } = await dist('crypto/hash.js');
const { regtestParams } = await dist('params/regtest.js');
const { formatTransaction, txid } = await dist('primitives/transaction.js');
const { addressPrefixesOf, encodeDestination } = await dist('script/address.js');
const { buildClaimPrefix, buildUpdatePrefix, claimIdOf } = await dist('script/claimScript.js');
const { scriptForDestination } = await dist('script/standard.js');

const CLAIMS_A_TRANSACTION = 250;
const TRANSACTIONS_A_BLOCK = 10;
const CLAIM_SAT = 10_000n;
const FEE_SAT = 60_000_000n;
const COIN_SAT = 100_000_000n;
const ROTATIONS = 7;
const REDEEM = Buffer.of(0x51);
const OPEN = { type: 'scripthash', hash: hash160(REDEEM) };
const ADDRESS = encodeDestination(OPEN, addressPrefixesOf(regtestParams));
const SCRIPT = scriptForDestination(OPEN);
const STREAM = Buffer.of(0x0a, 0);
const KEYS = ['one', 'other'].map((label) => sha256(Buffer.from(label)));

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const shown = (ms) => `${ms.toFixed(1)} ms`;

function transaction(spent, outputs, changeSat) {
  return {
    version: 2,
    inputs: spent.map(([hash, index]) => ({
      prevout: { hash, index },
      scriptSig: Buffer.from([1, ...REDEEM]),
      sequence: 0xffffffff,
      witness: [],
    })),
    outputs: [
      ...outputs.map((prefix) => ({ value: CLAIM_SAT, script: Buffer.concat([prefix, SCRIPT]) })),
      { value: changeSat, script: SCRIPT },
    ],
    lockTime: 0,
  };
}

async function timed(task) {
  const since = performance.now();
  const answer = await task();
  return [performance.now() - since, answer];
}

const channelValue = (key) =>
  Buffer.concat([Buffer.of(0, 0x12, 35, 0x0a, 33), ecdsaBackend().publicKeyOf(key, true)]);

/** Makes a channel and streams that it signed. Returns the transaction of the channel, and its id. */
async function makeChannel(node, transactions) {
  const blocks = await node.rpc('generatetoaddress', [transactions + 1, ADDRESS]);
  await node.rpc('generatetoaddress', [100, ADDRESS]);
  const coins = [];
  for (const hash of blocks)
    coins.push(Buffer.from((await node.rpc('getblock', [hash])).tx[0], 'hex').reverse());
  const made = transaction(
    [[coins[0], 0]],
    [buildClaimPrefix(Buffer.from('@c'), channelValue(KEYS[0]))],
    COIN_SAT / 2n,
  );
  await send(node, made);
  const channelId = claimIdOf(txid(made), 0);
  for (let n = 1; n <= transactions; n++) {
    const digest = sha256(Buffer.concat([coins[n], Buffer.alloc(4), channelId, STREAM]));
    const signature = Buffer.from(ecdsaBackend().sign(digest, KEYS[0], null).compact);
    const value = Buffer.concat([Buffer.of(1), channelId, signature, STREAM]);
    const prefixes = Array.from({ length: CLAIMS_A_TRANSACTION }, (_, i) =>
      buildClaimPrefix(Buffer.from(`s${n}-${i}`), value),
    );
    await send(node, transaction([[coins[n], 0]], prefixes, COIN_SAT - FEE_SAT));
    if (n % TRANSACTIONS_A_BLOCK === 0) await mine(node);
  }
  while ((await node.rpc('getmempoolinfo')).size > 0) await mine(node);
  return { made, channelId };
}

/** Changes the key of the channel several times. Returns durations in ms. */
async function rotateKeys(node, { made, channelId }) {
  const printed = Buffer.from(channelId).reverse().toString('hex');
  const belonging = {
    channel_ids: [printed],
    has_channel_signature: true,
    signature_valid: true,
    limit: 1,
  };
  const follow = async () => {
    const height = await node.rpc('getblockcount');
    for (;;) {
      const page = await node.rpc('searchclaims', [belonging]).catch(() => null);
      if (page?.height === height) return page.total;
    }
  };
  await follow();
  const times = { rotated: [], empty: [], followed: [] };
  let last = made;
  for (let n = 1; n <= ROTATIONS; n++) {
    const key = KEYS[n % 2];
    const id = txid(last);
    const change = last.outputs[1].value - 1_000_000n;
    const prefix = buildUpdatePrefix(Buffer.from('@c'), channelId, channelValue(key));
    const inputs = [0, 1].map((index) => [id, index]);
    last = transaction(inputs, [prefix], change);
    await send(node, last);
    times.rotated.push((await mine(node))[0]);
    const { claims_in_channel: claims } = await node.rpc('getclaim', [printed]);
    const [ms, found] = await timed(follow);
    if (claims > 0 !== (key === KEYS[0]) || found !== Math.min(1000, claims))
      throw new Error(`${claims} claims in the channel, ${found} found`);
    times.followed.push(ms);
    times.empty.push((await mine(node))[0]);
  }
  return times;
}

/** The median duration in ms of a search with these constraints. */
async function timeSearch(node, rest) {
  const all = [];
  // A different limit for each call, so that no answer comes from the cache.
  for (let n = 1; n <= ROTATIONS; n++)
    all.push((await timed(() => node.rpc('searchclaims', [{ order_by: 'height', limit: n, ...rest }])))[0]);
  return median(all);
}

const mine = (node) => timed(() => node.rpc('generatetoaddress', [1, ADDRESS]));
const send = (node, tx) => node.rpc('sendrawtransaction', [formatTransaction(tx).toString('hex'), true]);

async function run(count) {
  const node = await startRegtest({ args: ['-claimsearch'] });
  try {
    const transactions = Math.ceil(count / CLAIMS_A_TRANSACTION);
    const { rotated, empty, followed } = await rotateKeys(node, await makeChannel(node, transactions));
    const limited = await timeSearch(node, { limit_claims_per_channel: 3 });
    const plain = await timeSearch(node, {});
    console.log(
      `${transactions * CLAIMS_A_TRANSACTION} claims: block with the new key ${shown(median(rotated))}, ` +
        `empty block ${shown(median(empty))}, search follows in ${shown(median(followed))}; ` +
        `search ${shown(plain)}, with limit_claims_per_channel ${shown(limited)} (${(limited / plain).toFixed(1)} times)`,
    );
  } finally {
    await node.stop();
  }
}

const count = Number(process.argv[2] ?? 10_000);
await run(count);
await run(2 * count);
