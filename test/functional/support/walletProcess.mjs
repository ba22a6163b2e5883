/**
 * The daemon's ledger, wallets and transaction builder in a process that can end at a named point. Calls are JSON lines on
 * standard input, answers are lines on standard output. Arguments: folder, port of the hub, and the point (may be empty).
 */
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const dist = new URL('../../../dist/daemon/', import.meta.url);
const [
  { OpenLedger },
  { DaemonWallets },
  { TxBuilder },
  { txBuildingPortsOf },
  { Resolver },
  { implementationsByName },
  { readParams },
  { parseJson },
  { stringifyJson },
  { formatTransaction },
  { systemClock: clock, systemRandom: random },
] = await Promise.all(
  [
    'ledger/openLedger.js',
    'wallet/wallets.js',
    'txBuilding/txBuilder.js',
    'main/txBuildingPorts.js',
    'resolve/resolver.js',
    'api/methodTable.js',
    'api/paramReading.js',
    '../util/json/jsonParse.js',
    '../util/json/jsonStream.js',
    '../primitives/transaction.js',
    'base/clock.js',
  ].map((path) => import(new URL(path, dist).href)),
);
const [folder, port, dieAt = ''] = process.argv.slice(2);

/** Ends the process as kill -9 does, if the test asks for this point. */
function point(name) {
  if (name === dieAt) process.kill(process.pid, 'SIGKILL');
}

const quiet = () => undefined;
const log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };
const ledger = new OpenLedger({
  ledgerId: 'lbc_regtest',
  folder: join(folder, 'lbc_regtest'),
  servers: [{ host: '127.0.0.1', port: Number(port) }],
  log,
});
await ledger.start();
const wallets = await DaemonWallets.open(['default_wallet'], {
  folder: join(folder, 'wallets'),
  ledger,
  tools: { clock, random },
  warn: quiet,
});
await wallets.begin();

/** The parts that transaction building uses, with points at which the process can end. */
const dying = {
  params: ledger.params,
  transaction: (txid) => ledger.transaction(txid),
  taken: (txid, timeoutMs) => ledger.taken(txid, timeoutMs),
  database: new Proxy(ledger.database, {
    get(database, name) {
      if (name !== 'reserveCoins') return database[name].bind(database);
      return async (candidates) => {
        const coins = await database.reserveCoins(candidates);
        point('coins reserved');
        return coins;
      };
    },
  }),
  async broadcast(made) {
    point('before the broadcast');
    if (dieAt === 'sent, not in the database')
      await ledger.hub.call('blockchain.transaction.broadcast', [formatTransaction(made).toString('hex')]);
    point('sent, not in the database');
    await ledger.broadcast(made);
    point('in the database, not answered');
  },
};
for (const wallet of wallets.all) {
  const save = wallet.save.bind(wallet);
  wallet.save = async () => {
    point('before saving');
    await save();
    point('saved');
  };
}
const settings = { exchange_rates: [], coin_selection_strategy: 'prefer_confirmed', max_key_fee: null };
const resolver = new Resolver({ ledger, log });
const making = txBuildingPortsOf({
  ledger,
  resolver,
  settings: { get: (name) => settings[name] },
  clock,
  random,
  environment: {},
});
const txBuilder = new TxBuilder({ ...making, ledger: dying });
const services = { ledger, wallets, runningWallets: wallets, txBuilder, resolver, clock, random };
const methods = implementationsByName();
const answer = (value) => process.stdout.write(`${stringifyJson(value)}\n`);

answer({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const call = parseJson(line);
  const { declaration, run } = methods.get(call.get('method'));
  try {
    const named = new Map(call.get('params').entries);
    const args = readParams(declaration, { positional: [], named });
    const signal = new AbortController().signal;
    answer({ result: await run({ services, withProtobuf: false, signal }, args) });
  } catch (error) {
    answer({ error: { name: error.name, message: error.message } });
  }
}
await ledger.close();
