/** Client of the thread in which the ledger's database runs. */
import { yieldIfDue } from '../../../scheduler/yield.js';
import { daemonDatabase } from '../../base/threadCalls.js';
import type { CoinCandidate, LedgerDatabase } from '../ledgerDatabase.js';
import type { OutPointRef } from '../txoQuery.js';
import type { LedgerStore, StoreOptions } from './ledgerStore.js';

type Calls = Omit<LedgerStore, 'close' | 'notice' | keyof LedgerDatabase>;

/** Calls of the database for other modules of the daemon, and additional calls for the synchronization. */
export type LedgerStorePort = LedgerDatabase & {
  readonly [Name in keyof Calls]: (...args: Parameters<Calls[Name]>) => Promise<ReturnType<Calls[Name]>>;
} & { close(): Promise<void> };

type Send = (method: string, args: readonly unknown[]) => Promise<unknown>;

/** Converts byte arrays from another thread to buffers. */
function withBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) {
    for (let n = 0; n < value.length; n++) value[n] = withBuffers(value[n]);
    return value;
  }
  if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype)
    for (const [key, inner] of Object.entries(value))
      if (typeof inner === 'object') (value as Record<string, unknown>)[key] = withBuffers(inner);
  return value;
}

const COIN_FIELDS = 5;
/** Number of characters that are parsed between two yields to the event loop. */
const PIECE = 65_536;

/** Parses the text that `CoinReads.coins` returns. */
async function coinsOf(text: string): Promise<CoinCandidate[]> {
  const coins: CoinCandidate[] = [];
  let since = performance.now();
  let rest: string[] = [];
  for (let at = 0; at < text.length;) {
    const blank = text.indexOf(' ', at + PIECE);
    const end = blank < 0 ? text.length : blank;
    const fields = [...rest, ...text.slice(at, end).split(' ')];
    const whole = fields.length - (fields.length % COIN_FIELDS);
    for (let n = 0; n < whole; n += COIN_FIELDS)
      coins.push({
        number: Number(fields[n]),
        tx: Number(fields[n + 1]),
        amountDewies: BigInt(fields[n + 2]!),
        height: Number(fields[n + 3]),
        isVerified: fields[n + 4] === '1',
      });
    rest = fields.slice(whole);
    at = end + 1;
    since = await yieldIfDue(since);
  }
  return coins;
}

const METHODS = [
  'txos',
  'txoCount',
  'txoSum',
  'txoPlot',
  'balance',
  'reserve',
  'reserveCoins',
  'release',
  'releaseAll',
  'releaseLeft',
  'transactions',
  'transactionCount',
  'addresses',
  'addressCount',
  'unusedAddresses',
  'maxGap',
  'addKeys',
  'chainEnd',
  'statuses',
  'statusesOf',
  'chainsOf',
  'known',
  'unlike',
  'missingFrom',
  'saveTransactions',
  'saveHistories',
  'agree',
  'removeUnlisted',
  'noteSending',
  'forgetSending',
  'saveBroadcast',
  'rewind',
  'coins',
  'coinTotals',
  'coinAmounts',
  'leastCoinAmount',
  'coinsOfAmount',
  'longChains',
] as const satisfies readonly (keyof LedgerStore)[];

const plain = (outPoints: readonly OutPointRef[]): OutPointRef[] =>
  outPoints.map(({ txid, nout }) => ({ txid, nout }));

function portOf(send: Send, close: () => Promise<void>): LedgerStorePort {
  const calls = METHODS.map((name) => [
    name,
    async (...args: unknown[]) => withBuffers(await send(name, args)),
  ]);
  return {
    ...(Object.fromEntries(calls) as LedgerStorePort),
    // The outpoints are copied to plain objects, because getters are not copied to another thread.
    reserve: async (outPoints) => (await send('reserve', [plain(outPoints)])) as boolean,
    release: async (outPoints) => void (await send('release', [plain(outPoints)])),
    spendable: async (accountIds, withProofs = false) =>
      coinsOf((await send('coins', [accountIds, withProofs])) as string),
    close,
  };
}

/** Returns the same asynchronous calls for a database that runs in this thread. For tests. */
export function storeInThread(store: LedgerStore): LedgerStorePort {
  const calls = store as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  return portOf(
    async (method, args) => calls[method]!(...structuredClone(args)),
    async () => store.close(),
  );
}

/**
 * Opens the database in a thread. If the database cannot be opened, calls reject with the reason. `warn` gets a message if
 * the file had to be rebuilt.
 */
export function openStore(options: StoreOptions, warn: (text: string) => void): LedgerStorePort {
  const thread = daemonDatabase({
    program: ['daemon', 'ledger', 'store', 'storeProgram.js'],
    data: options,
    title: "The wallet's database",
    onNotice: warn,
  });
  return portOf(
    (method, args) => thread.call(method, args),
    () => thread.close(),
  );
}
