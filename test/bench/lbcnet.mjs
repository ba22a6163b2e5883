#!/usr/bin/env node
// lbcnet with a wallet of many transactions on a regtest node with -hub: how fast the API answers on eight connections, how
// long the first sync takes, opening, balances, a page of outputs, a new channel, and the memory at rest. With LBRYNET the
// Python daemon answers beside it on a wallet of its own without transactions. What misses its limit is marked with `!`, and
// the program ends with 1 then.
//
//   npm run bench:lbcnet [-- --counts 10000,100000] [--seconds 2]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Daemon } from './daemonProcess.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { startRegtest, freePort } = await dist('testing/index.js');
const { addressOfKey, buildTransaction, makeKey, signTransaction, transactionId } =
  await dist('client/index.js');
const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const COUNTS = option('counts', '10000,100000').split(',').map(Number);
const SECONDS = option('seconds', '2');
const CONNECTIONS = '8';
const RUNS = 30;
/** The limit of each row: a minimum per second, or a maximum in milliseconds, seconds or MB. */
const LIMITS = {
  'version, a second': 8000,
  'settings_get, a second': 5000,
  'status, a second': 3000,
  'first sync, s': 30,
  'opening, s': 2,
  'account_balance, ms': 20,
  'a page of txo_list, ms': 50,
  'channel_create, ms': 300,
  'memory at rest, MB': 250,
};
/** The limit of the first sync applies to this number of transactions. */
const FIRST_SYNC_COUNT = 10_000;
/** Outputs of a transaction that splits a coin, and transactions of a block. */
const SPLIT = 1000;
const COIN_SAT = 20_000n;
const FEE_SAT = 1_000n;

async function load(port, body) {
  const child = spawn(process.execPath, [join(here, 'rpcLoad.mjs'), `${port}`, ':', CONNECTIONS, SECONDS], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(body));
  let text = '';
  child.stdout.on('data', (piece) => (text += piece));
  await once(child, 'close');
  const { answers, seconds } = JSON.parse(text);
  return answers / seconds;
}

async function rates(daemon) {
  const out = {};
  for (const method of ['version', 'settings_get', 'status'])
    out[`${method}, a second`] = await load(daemon.port, { method });
  return out;
}

async function median(runs, task) {
  const took = [];
  for (let i = 0; i < runs; i++) {
    const since = performance.now();
    await task(i);
    took.push(performance.now() - since);
  }
  return took.sort((a, b) => a - b)[runs >> 1];
}

/** A new key, and its address that pays to the key's hash. */
function newKey() {
  const key = makeKey('regtest');
  return { ...key, address: addressOfKey(key.publicKey, 'regtest', 'legacy') };
}

/** Pays this often to the addresses, each time by a separate transaction. */
async function pay(node, addresses, count) {
  const key = newKey();
  const scriptOf = async (address) =>
    Buffer.from((await node.rpc('validateaddress', [address])).scriptPubKey, 'hex');
  const own = await scriptOf(key.address);
  const theirs = await Promise.all(addresses.map(scriptOf));
  const blocks = Math.ceil(count / SPLIT);
  const coinbases = [];
  for (const hash of await node.rpc('generatetoaddress', [blocks, key.address]))
    coinbases.push((await node.rpc('getblock', [hash])).tx[0]);
  await node.rpc('generatetoaddress', [100, key.address]);
  const send = (inputs, outputs) => {
    const hex = buildTransaction({ inputs, outputs });
    const spent = inputs.map(({ txid, vout, amountSat }) => ({ txid, vout, amountSat, script: own }));
    return signTransaction({ network: 'regtest', hex, spent, privateKeys: [key.privateKey] }).hex;
  };
  for (let block = 0; block < blocks; block++) {
    const { vout } = await node.rpc('getrawtransaction', [coinbases[block], true]);
    const amountSat = BigInt(Math.round(vout[0].value * 1e8));
    const outputs = Array.from({ length: SPLIT }, () => ({ value: COIN_SAT, script: own }));
    const rest = amountSat - COIN_SAT * BigInt(SPLIT) - 10_000_000n;
    outputs.push({ value: rest, script: theirs[block % theirs.length] });
    const split = send([{ txid: coinbases[block], vout: 0, amountSat }], outputs);
    await node.rpc('sendrawtransaction', [split, true]);
    await node.rpc('generatetoaddress', [1, key.address]);
    const txid = transactionId(split);
    for (let vout = 0; vout < SPLIT; vout++) {
      const script = theirs[(block * SPLIT + vout) % theirs.length];
      const paid = send([{ txid, vout, amountSat: COIN_SAT }], [{ value: COIN_SAT - FEE_SAT, script }]);
      await node.rpc('sendrawtransaction', [paid, true]);
    }
    await node.rpc('generatetoaddress', [1, key.address]);
  }
}

async function measure(count) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-lbcnet-'));
  const hubPort = await freePort();
  const node = await startRegtest({
    args: [
      '-hub',
      `-hubport=${hubPort}`,
      '-hubudpport=0',
      '-disablewallet',
      '-limitancestorcount=2000',
      '-limitdescendantcount=2000',
      '-limitdescendantsize=2000',
    ],
  });
  const command = [process.execPath, join(root, 'dist/bin/lbcnet.js')];
  try {
    await node.rpc('generatetoaddress', [1, newKey().address]);
    let daemon = new Daemon(command, folder, await freePort(), hubPort);
    await daemon.up();
    const { items } = await daemon.call('address_list', { page_size: 20 });
    await daemon.stop();
    await pay(
      node,
      items.map(({ address }) => address),
      count,
    );
    rmSync(join(folder, 'wallet', 'lbc_regtest'), { recursive: true, force: true });
    const out = {};
    daemon = new Daemon(command, folder, await freePort(), hubPort);
    out['first sync, s'] = await daemon.up();
    await daemon.stop();
    daemon = new Daemon(command, folder, await freePort(), hubPort);
    out['opening, s'] = await daemon.up();
    const { total_items: found } = await daemon.call('transaction_list', { page_size: 1 });
    if (found < count) throw new Error(`the wallet found ${found} of ${count} transactions`);
    await sleep(3000);
    out['memory at rest, MB'] = daemon.memoryMb;
    Object.assign(out, await rates(daemon));
    out['account_balance, ms'] = await median(RUNS, () => daemon.call('account_balance'));
    out['a page of txo_list, ms'] = await median(RUNS, (i) => daemon.call('txo_list', { page: i + 1 }));
    out['channel_create, ms'] = await median(RUNS, (i) =>
      daemon.call('channel_create', { name: `@bench${i}`, bid: '0.001' }),
    );
    await daemon.stop();
    return out;
  } finally {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures the same calls of the Python daemon with an empty wallet. */
async function reference(program) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-lbrynet-'));
  const hubPort = await freePort();
  const node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`, '-disablewallet'] });
  try {
    await node.rpc('generatetoaddress', [1, newKey().address]);
    const daemon = new Daemon([program], folder, await freePort(), hubPort);
    await daemon.up();
    const out = { ...(await rates(daemon)), 'memory at rest, MB': daemon.memoryMb };
    await daemon.stop();
    return out;
  } finally {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a value misses its limit. `count` is the number of transactions. */
function misses(name, value, count) {
  if (value === undefined || (name === 'first sync, s' && count !== FIRST_SYNC_COUNT)) return false;
  return name.endsWith(', a second') ? value < LIMITS[name] : value > LIMITS[name];
}

const columns = [];
for (const count of COUNTS)
  columns.push({ title: count.toLocaleString('en-US'), count, figures: await measure(count) });
if (process.env.LBRYNET) columns.push({ title: 'lbrynet', figures: await reference(process.env.LBRYNET) });
const shown = (value) =>
  value === undefined ? '-' : value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);
console.log(
  ['lbcnet'.padEnd(30), ...columns.map(({ title }) => title.padStart(12)), '       limit'].join(''),
);
for (const [name, limit] of Object.entries(LIMITS)) {
  const cells = columns.map(({ figures }) => shown(figures[name]).padStart(12));
  const isMissed = columns.some(
    ({ count, figures }) => count !== undefined && misses(name, figures[name], count),
  );
  if (isMissed) process.exitCode = 1;
  console.log([name.padEnd(30), ...cells, shown(limit).padStart(12), isMissed ? ' !' : ''].join(''));
}
