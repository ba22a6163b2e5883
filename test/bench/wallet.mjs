#!/usr/bin/env node
// Measures a wallet by the length of its history: opening, balances, lists, sending, a block, memory. It makes wallets with
// 10,000 and 100,000 transactions, and opens each in a process of its own. With LBRYCRDD the reference is measured by the same
// calls, with a wallet that has mined (its opening is a complete start).
//
// Then whole nodes and the reference are measured (`walletNodes.mjs`): opening, rescan, memory.
//
//   npm run bench:wallet [-- --counts 10000,100000]
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compareNodes } from './walletNodes.mjs';

const at = process.argv.indexOf('--counts');
const counts = (at < 0 ? '10000,100000' : process.argv[at + 1]).split(',').map(Number);
const script = join(dirname(fileURLToPath(import.meta.url)), 'walletSteps.mjs');
const work = mkdtempSync(join(tmpdir(), 'bench-wallet-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

/** The limit of each row at 100,000 transactions. */
const LIMITS = {
  opening: 2000,
  getbalance: 20,
  'listtransactions 100': 50,
  listunspent: 500,
  sendtoaddress: 300,
  'block of 1,000, 100 own': 10,
  'memory MB': 150,
};

function run(step, count) {
  const file = join(work, `${count}.db`);
  const child = spawnSync(process.execPath, ['--expose-gc', script, step, file, `${count}`], {
    encoding: 'utf8',
  });
  if (child.status !== 0) throw new Error(child.stdout + child.stderr);
  return JSON.parse(child.stdout.trim().split('\n').at(-1));
}

const results = {};
for (const count of counts) {
  run('make', count);
  results[count] = run('open', count);
}
if (process.env.LBRYCRDD) results.lbrycrd = await reference(process.env.LBRYCRDD, counts[0]);

const columns = Object.keys(results);
const shown = (value) => (value === undefined ? '-' : value.toFixed(value < 10 ? 2 : 0));
console.log(['milliseconds'.padEnd(30), ...columns.map((c) => c.padStart(10)), '     limit'].join(''));
for (const name of Object.keys(results[counts[0]])) {
  const cells = columns.map((column) => shown(results[column][name]).padStart(10));
  console.log([name.padEnd(30), ...cells, `${LIMITS[name] ?? ''}`.padStart(10)].join(''));
}

if (process.env.LBRYCRDD) await compareNodes(process.env.LBRYCRDD);

/** Measures lbrycrd with as many transactions, all of them coinbases of its wallet. */
async function reference(binary, count) {
  const port = 20_000 + (process.pid % 20_000);
  const args = [
    '-regtest',
    '-server',
    `-datadir=${work}`,
    `-rpcport=${port}`,
    '-rpcuser=u',
    '-rpcpassword=p',
    '-listen=0',
    '-dnsseed=0',
    '-fallbackfee=0.0002',
  ];
  const rpc = async (method, params = []) => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('u:p').toString('base64')}` },
      body: JSON.stringify({ id: 1, method, params }),
    });
    const { result, error } = await answer.json();
    if (error) throw Object.assign(new Error(error.message), { isAnswer: true });
    return result;
  };
  const start = async () => {
    const child = spawn(binary, args, { stdio: 'ignore', env: { ...process.env, HOME: work } });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    for (;;) {
      try {
        await rpc('getbalance');
        break;
      } catch {
        await sleep(20);
      }
    }
    return async () => {
      child.kill('SIGTERM');
      await exited;
    };
  };
  let stop = await start();
  const out = {};
  try {
    const address = await rpc('getnewaddress', ['miner']);
    for (let made = 0; made < count; made += 500) await rpc('generatetoaddress', [500, address]);
    await stop();
    const started = performance.now();
    stop = await start();
    out.opening = performance.now() - started;
    const fastest = async (runs, method, params) => {
      let best = Infinity;
      for (let i = 0; i < runs; i++) {
        const from = performance.now();
        await rpc(method, params);
        best = Math.min(best, performance.now() - from);
      }
      return best;
    };
    const recent = await rpc('getblockhash', [(await rpc('getblockcount')) - 6]);
    const [{ txid }] = await rpc('listtransactions', ['*', 1]);
    out.getbalance = await fastest(5, 'getbalance');
    out['listtransactions 100'] = await fastest(5, 'listtransactions', ['*', 100]);
    out['listtransactions of a label'] = await fastest(5, 'listtransactions', ['nobody', 100]);
    out['listsinceblock, 6 blocks'] = await fastest(5, 'listsinceblock', [recent]);
    out.gettransaction = await fastest(5, 'gettransaction', [txid]);
    out.getreceivedbylabel = await fastest(5, 'getreceivedbylabel', ['miner']);
    out.listreceivedbylabel = await fastest(3, 'listreceivedbylabel');
    out.listaddressgroupings = await fastest(3, 'listaddressgroupings');
    out.listunspent = await fastest(3, 'listunspent');
    out.sendtoaddress = await fastest(3, 'sendtoaddress', [address, 0.5]);
  } finally {
    await stop();
  }
  return out;
}
