// One step of wallet.mjs in a process of its own, so that memory is that of one wallet: `make <file> <count>` writes a
// wallet with a history, `open <file> <count>` opens it and calls its methods. Prints a line of JSON.
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const [step, path, countText] = process.argv.slice(2);
const count = Number(countText);

const { hash160 } = await dist('crypto/hash.js');
const { networkParams } = await dist('params/networks.js');
const { formatBlock } = await dist('primitives/block.js');
const { parseBlockView } = await dist('primitives/blockView.js');
const { txid } = await dist('primitives/transaction.js');
const { encodeDestination } = await dist('script/address.js');
const { scriptForDestination } = await dist('script/standard.js');
const { inSlices } = await dist('scheduler/slices.js');
const { stringifyJson } = await dist('util/json/jsonStream.js');
const { Follower } = await dist('wallet/follower.js');
const { WalletBatch } = await dist('wallet/store/records.js');
const { WalletFile } = await dist('wallet/store/walletFile.js');
const { Wallet } = await dist('wallet/wallet.js');

/** Number of the wallet's transactions in a block, and the height of the first block with any. */
const IN_BLOCK = 10;
const FIRST_HEIGHT = 10;
const OPTIONS = {
  addressType: 'legacy',
  changeType: null,
  avoidsPartialSpends: false,
  discardFeeRatePerKb: 10_000n,
  fallbackFeeRatePerKb: 20_000n,
  minTxFeeRatePerKb: 1_000n,
  payTxFeeRatePerKb: 0n,
  maxTxFeeSat: 10_000_000_000n,
  keypoolSize: 1000,
  confirmTarget: 6,
  spendsUnconfirmedChange: true,
  signalsReplacement: false,
  broadcasts: true,
  rejectsLongChains: false,
};

const sha = (text) => createHash('sha256').update(text).digest();
const blocks = Math.ceil(count / IN_BLOCK);
const hashes = Array.from({ length: FIRST_HEIGHT + blocks + 50 }, (_, height) => sha(`block ${height}`));
const heights = new Map(hashes.map((hash, height) => [hash.toString('latin1'), height]));
const chain = {
  height: FIRST_HEIGHT + blocks - 1,
  heightOf: (hash) => heights.get(Buffer.from(hash).toString('latin1')) ?? -1,
  isKnown: () => true,
  hashAt: (height) => hashes[height] ?? null,
  timeSecAt: (height) => 1_600_000_000 + height * 150,
  medianTimeSecAt: (height) => 1_600_000_000 + height * 150,
  hasBlock: () => true,
  snapshotHeight: -1,
  isInitialDownload: () => false,
  reorganised: () => null,
};
const quiet = { info() {}, warn() {}, debug() {}, error() {} };
const node = {
  params: networkParams('regtest'),
  chain,
  mempool: {
    all: () => [],
    has: () => false,
    relatives: () => null,
    ancestors: () => [],
    limits: { ancestors: 25, descendants: 25 },
    submit: () => Promise.resolve(null),
    test: () => Promise.resolve(null),
    announce() {},
    isReplaceable: () => false,
  },
  fees: {
    estimateSmart: () => ({ ratePerKb: 0n, blocks: 0 }),
    highestTarget: 1008,
    mempoolMinRatePerKb: 0n,
    relayMinRatePerKb: 1000n,
    incrementalRatePerKb: 1000n,
    dustRatePerKb: 3000n,
  },
  log: quiet,
  nowSec: () => 1_700_000_000,
  listen: () => () => undefined,
  onFatal(error) {
    throw error;
  },
  warn() {},
  showStart() {},
};

const pays = (hash) => scriptForDestination({ type: 'pubkeyhash', hash });
const foreign = (n) => pays(hash160(Buffer.from(`foreign ${n}`)));
let seed = 1;
const random = (below) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % below;
const signature = Buffer.alloc(107, 7);
const input = (hash, index, sequence) => ({
  prevout: { hash, index },
  scriptSig: signature,
  sequence,
  witness: [],
});

/**
 * Six of ten transactions pay to one of many addresses with a label. Four spend two coins, pay another user and have a change
 * output. A fifth of the transactions have unspent outputs: 20,000 of 100,000.
 */
async function make() {
  const wallet = new Wallet('', { node, file: await WalletFile.create(path), options: OPTIONS });
  let batch = new WalletBatch();
  await inSlices(wallet.begin(batch));
  const key = (isChange) => {
    const reserved = wallet.keys.reserve(batch, isChange);
    wallet.keypool.keep(batch, reserved);
    return hash160(reserved.key.publicKey);
  };
  const addresses = [];
  for (let i = 0; i < count / 10; i++) {
    const hash = key(false);
    addresses.push(pays(hash));
    wallet.book.set(
      batch,
      encodeDestination({ type: 'pubkeyhash', hash }, wallet.prefixes),
      `customer ${i}`,
      'receive',
    );
  }
  const coins = [];
  const take = () => coins.splice(random(coins.length), 1)[0];
  for (let i = 0; i < count; i++) {
    const height = FIRST_HEIGHT + Math.floor(i / IN_BLOCK);
    wallet.followedHeight = height;
    const place = {
      blockHash: hashes[height],
      height,
      timeSec: chain.timeSecAt(height),
      index: i % IN_BLOCK,
    };
    const isSent = i % 10 >= 6 && coins.length >= 2;
    let tx;
    if (isSent) {
      const spent = [take(), take()];
      const sum = spent[0].valueSat + spent[1].valueSat;
      tx = {
        version: 2,
        lockTime: height - 1,
        inputs: spent.map((coin) => input(coin.txid, coin.n, 0xfffffffe)),
        outputs: [
          { value: sum / 2n, script: foreign(i) },
          { value: sum - sum / 2n - 1000n, script: pays(key(true)) },
        ],
      };
    } else {
      tx = {
        version: 2,
        lockTime: 0,
        inputs: [input(sha(`in ${i}`), 0, 0xffffffff)],
        outputs: [
          { value: 100_000_000n + BigInt(i), script: addresses[random(addresses.length)] },
          { value: 5000n, script: foreign(i) },
        ],
      };
    }
    const own = isSent ? { notes: new Map([['comment', `invoice ${i}`]]) } : undefined;
    const entry = wallet.ledger.add(batch, tx, place, own);
    for (const { n, valueSat } of entry.outputs) coins.push({ txid: txid(tx), n, valueSat });
    if (i % 500 === 499) {
      await wallet.write(batch, { sync: false });
      batch = new WalletBatch();
    }
  }
  wallet.setBestBlock(batch, [hashes[wallet.followedHeight]]);
  await wallet.write(batch);
  await wallet.close();
  console.log('{}');
}

/** Milliseconds of the fastest of several runs, because other programs slow down single runs. */
async function fastest(runs, task) {
  let best = Infinity;
  for (let i = 0; i < runs; i++) {
    const started = performance.now();
    await task(i);
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

function memoryMb() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

async function closed(wallet, times) {
  const started = performance.now();
  await wallet.close();
  times['closing with image'] = performance.now() - started;
}

async function openIt() {
  const { METHODS } = await dist('rpc/declare/methodTable.js');
  const { invokeMethod } = await dist('rpc/call/callMethod.js');
  /** Opens the wallet and adds the times to `times`. */
  const opened = async (times, name) => {
    const started = performance.now();
    const cpu = process.cpuUsage();
    const wallet = new Wallet('', { node, file: await WalletFile.open(path), options: OPTIONS });
    await inSlices(wallet.load());
    wallet.followedHeight = chain.height;
    const batch = new WalletBatch();
    await inSlices(wallet.settle(batch));
    await wallet.write(batch);
    times[name] = performance.now() - started;
    const used = process.cpuUsage(cpu);
    times[`${name}, cpu`] = (used.user + used.system) / 1000;
    return wallet;
  };
  const out = {};
  // Opens a wallet that was not closed, as after a kill. Closing writes its image.
  await closed(await opened(out, 'opening without image'), out);
  const before = memoryMb();
  const wallet = await opened(out, 'opening');
  out['memory MB'] = memoryMb() - before;

  const headers = {
    find: (hash) => chain.heightOf(hash),
    height: (id) => id,
    prev: (id) => id - 1,
    hash: (id) => hashes[id],
  };
  const services = {
    wallets: {
      all: () => [wallet],
      find: () => wallet,
      // No listener must wait for the wallet.
      caughtUp: () => null,
      enter: () => () => undefined,
      finish: () => undefined,
      isBetween: false,
    },
    options: { serializeWitness: true },
    params: node.params,
    chain: { headers, chain: { index: { active: { contains: () => true } } } },
  };
  const ctx = {
    profile: 'documented',
    services,
    signal: new AbortController().signal,
    isDeprecatedEnabled: () => false,
    outOfTurn: (wait) => wait(),
  };
  const call = async (name, params = []) => {
    const method = METHODS.find((one) => one.name === name);
    if (method === undefined) return undefined;
    return stringifyJson(await invokeMethod(method, ctx, params));
  };
  const num = async (text) => JSON.parse(await text);
  const latest = (await num(call('listtransactions', ['*', 1])))[0].txid;
  const recent = hashes[chain.height - 6].toString('hex').match(/../g).reverse().join('');
  out.getbalance = await fastest(20, () => call('getbalance'));
  out['listtransactions 100'] = await fastest(20, () => call('listtransactions', ['*', 100]));
  out['listtransactions of a label'] = await fastest(20, (i) =>
    call('listtransactions', [`customer ${i}`, 100]),
  );
  out['listsinceblock, 6 blocks'] = await fastest(20, () => call('listsinceblock', [recent]));
  out.gettransaction = await fastest(20, () => call('gettransaction', [latest]));
  out.getreceivedbylabel = await fastest(20, () => call('getreceivedbylabel', ['customer 7']));
  out.listreceivedbylabel = await fastest(3, () => call('listreceivedbylabel'));
  out.listaddressgroupings = await fastest(3, () => call('listaddressgroupings'));
  out.listunspent = await fastest(3, () => call('listunspent'));
  const address = encodeDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, 1) }, wallet.prefixes);
  out.sendtoaddress = await fastest(5, () => call('sendtoaddress', [address, 1.5]));
  out['block of 1,000, 100 own'] = await connecting(wallet);
  await wallet.close();
  console.log(JSON.stringify(out));
}

/** Measures a block in a wallet that follows the chain, until it is in memory and passed to the system. */
async function connecting(wallet) {
  const [[own]] = [...wallet.book.destinations()];
  const script = pays(Buffer.from(own, 'latin1').subarray(1));
  const follower = new Follower(wallet);
  let best = Infinity;
  for (let run = 0; run < 20; run++) {
    const height = chain.height + 1;
    const transactions = Array.from({ length: 1000 }, (_, n) => ({
      version: 2,
      lockTime: 0,
      inputs: [input(sha(`block ${run} ${n}`), 0, 0xffffffff)],
      outputs: [
        { value: 7000n, script: n % 10 === 0 ? script : foreign(`${run} ${n}`) },
        { value: 5000n, script: foreign(`${run} ${n} change`) },
      ],
    }));
    const header = {
      version: 1,
      prevHash: Buffer.alloc(32),
      merkleRoot: Buffer.alloc(32),
      claimRoot: Buffer.alloc(32),
      timeSec: chain.timeSecAt(height),
      bits: 0x207fffff,
      nonce: 0,
    };
    const raw = formatBlock({ header, transactions });
    const block = { height, hash: hashes[height], timeSec: header.timeSec, raw, parsed: parseBlockView(raw) };
    chain.height = height;
    const started = performance.now();
    follower.blockConnected(block);
    await wallet.events.caughtUp();
    // `setImmediate` runs after the pending writes were started.
    await new Promise(setImmediate);
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

await (step === 'make' ? make() : openIt());
