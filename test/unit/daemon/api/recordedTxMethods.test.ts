/**
 * Repeats the recorded calls of the reference's daemon about wallets, lists and transactions, with the same payments and blocks.
 * Transactions must have the same bytes, and balances must be equal. Differences are rows of `docs/lbcnet-recordings.md`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { sha256 } from '../../../../src/crypto/hash.js';
import type { DaemonServices } from '../../../../src/daemon/api/context.js';
import { implementationsByName } from '../../../../src/daemon/api/methodTable.js';
import type { OpenLedger } from '../../../../src/daemon/ledger/openLedger.js';
import type { Settings } from '../../../../src/daemon/api/settings.js';
import { txBuildingPortsOf } from '../../../../src/daemon/main/txBuildingPorts.js';
import { TxBuilder } from '../../../../src/daemon/txBuilding/txBuilder.js';
import { Resolver } from '../../../../src/daemon/resolve/resolver.js';
import { payTo } from '../../../../src/daemon/txBuilding/destinations.js';
import { DaemonWallets } from '../../../../src/daemon/wallet/wallets.js';
import type { Transaction } from '../../../../src/primitives/transaction.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { AcceptedDifferences } from '../../../support/acceptedDifferences.js';
import { callMethod, type MethodAnswer } from '../../../support/daemonMethods.js';
import { FakeChain, FakeHub } from '../../../support/fakeHub.js';
import { answerAboutClaims } from '../../../support/hubClaims.js';
import { made, regtest } from '../../../support/ledgerTransactions.js';
import { TestLedgers } from '../../../support/testLedger.js';
import { systemClock } from '../../../../src/daemon/base/clock.js';

const RECORDED = new URL('../../../../../shared/conformance/sdk/daemon.jsonl.gz', import.meta.url);
const SEED = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
/** Methods that create random keys, which later calls do not compare. */
const WITH_NEW_SEEDS = ['account_create', 'wallet_create', 'wallet_add', 'wallet_remove'];
/** Other tests repeat these: methods about files and the claim index. */
const LEFT_OUT = /^(file|blob|get$|resolve$|claim_search|collection_resolve|sync)/;
/** Methods whose answers must be equal. */
const COMPARED =
  /^(account_(send|fund|balance)|wallet_(send|balance)|channel_(create|update|abandon|sign|export|import)|publish|stream_(create|update|abandon|repost)|support_(create|abandon)|collection_(create|update|abandon)|txo_(spend|sum)|utxo_release)$/;

interface Line {
  readonly kind: 'call' | 'fund' | 'mine';
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly answer: {
    readonly result?: Record<string, unknown>;
    readonly error?: { data: { name: string }; message: string };
  };
  readonly address: string;
  readonly dewies: number;
  readonly txid: string;
  readonly count: number;
}

function readLines(): Line[] | null {
  if (!existsSync(RECORDED)) {
    console.log('skipped: the recordings are not present');
    return null;
  }
  const lines = gunzipSync(readFileSync(RECORDED)).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

const lines = readLines();
const accepted = new AcceptedDifferences('recordedTxMethods');
const ledgers = new TestLedgers();
const folder = mkdtempSync(join(tmpdir(), 'lbcnet-life-'));
let hub: FakeHub | null = null;

afterAll(async () => {
  await ledgers.closeAll();
  await hub?.stop();
  rmSync(folder, { recursive: true });
});

/** Script of an input that the recording's payments have. */
const EMPTY_SIGNATURE = Buffer.concat([Buffer.of(0x48), Buffer.alloc(72), Buffer.of(0x21), Buffer.alloc(33)]);

/** A payment without a previous transaction, as the hub of the recording made it. */
function payment(count: number, address: string, dewies: number): Transaction {
  const { amountDewies, script } = payTo(BigInt(dewies), address, regtest);
  return {
    version: 1,
    inputs: [
      {
        prevout: { hash: sha256(Buffer.from(`fund ${count}`)), index: 0 },
        scriptSig: EMPTY_SIGNATURE,
        sequence: 0xffffffff,
        witness: [],
      },
    ],
    outputs: [{ value: amountDewies, script }],
    lockTime: 0,
  };
}

/** Transactions that the chain and its mempool have. */
const countOn = ({ blocks, mempool }: FakeChain): number =>
  blocks.reduce((sum, { txs }) => sum + txs.length, mempool.length);

class Life {
  readonly chain: FakeChain;
  readonly services: Partial<DaemonServices>;
  readonly ledger: OpenLedger;

  constructor(ledger: OpenLedger, services: Partial<DaemonServices>, chain: FakeChain) {
    this.ledger = ledger;
    this.services = services;
    this.chain = chain;
  }

  /** Resolves when the ledger has every transaction as the chain has it. */
  async caughtUp(): Promise<void> {
    const { chain, ledger } = this;
    const known = async (): Promise<boolean> => {
      if (ledger.height !== chain.height) return false;
      const places = [
        ...chain.blocks.flatMap(({ txs }, height) => txs.map(({ txid }) => ({ txid, height }))),
        ...chain.mempool.map(({ txid }) => ({ txid, height: null })),
      ];
      const txids = places.map(({ txid }) => txid);
      const rows = await ledger.database.transactions({ accountIds: null, txids }, {}, []);
      const heights = new Map(rows.map(({ txid, height }) => [hashToHex(txid), height]));
      return places.every(({ txid, height }) => {
        const found = heights.get(hashToHex(txid));
        return found !== undefined && (height === null ? found <= 0 : found === height);
      });
    };
    while (!(await known())) await new Promise((resolve) => setTimeout(resolve, 2));
    await ledger.whenSynced();
  }
}

async function begin(chain: FakeChain): Promise<Life> {
  hub = await FakeHub.start(chain);
  hub.answer = (method, params) => answerAboutClaims(chain, method, params);
  const { ledger } = await ledgers.open([hub]);
  const account = { ledger: 'lbc_regtest', name: 'Main', seed: SEED };
  writeFileSync(
    join(folder, 'default_wallet'),
    JSON.stringify({ version: 1, name: 'My Wallet', preferences: {}, accounts: [account] }),
  );
  let drawn = 0;
  // A random choice of an address requests four bytes. The zeros select the first address, as in the recording.
  const random = {
    bytes: (count: number) =>
      count === 4
        ? Buffer.alloc(4)
        : Buffer.concat([sha256(Buffer.from(`${drawn++}`)), Buffer.alloc(count)]).subarray(0, count),
  };
  const clock = { ...systemClock, nowSec: () => 1_700_000_000 };
  const wallets = await DaemonWallets.open(['default_wallet'], {
    folder,
    ledger,
    tools: { clock, random },
    warn: () => undefined,
  });
  await wallets.begin();
  const settings = {
    exchange_rates: [],
    coin_selection_strategy: 'prefer_confirmed',
    max_key_fee: null,
  };
  const txBuilder = new TxBuilder(
    txBuildingPortsOf({
      ledger,
      resolver: new Resolver({ ledger, log: { warn: (text) => expect.unreachable(text) } }),
      settings: { get: (name: keyof typeof settings) => settings[name] } as unknown as Settings,
      clock,
      random,
      files: {
        publishing: () => expect.unreachable('nothing is published from a file'),
        hasFiles: () => false,
      },
      environment: {},
    }),
  );
  return new Life(ledger, { ledger, wallets, runningWallets: wallets, txBuilder, clock, random }, chain);
}

/** The call without its file. The recorded hashes of the file are passed instead. */
function withoutFile({ method, params, answer }: Line): Record<string, unknown> {
  const { file_path: path, ...rest } = params;
  if (path === undefined || answer.error || method !== 'stream_create') return rest;
  const [stream] = (answer.result as { outputs: { value: { source: Record<string, string> } }[] }).outputs;
  const { name, size, hash, sd_hash: sdHash } = stream!.value.source;
  return { ...rest, file_name: name, file_size: Number(size), file_hash: hash, sd_hash: sdHash };
}

/** The time of a block, which differs on the chain of this test. */
const TIME = 'timestamp';

const withoutTime = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === TIME ? undefined : inner)));

/** Errors whose text or class is that of a Python exception in the recording. */
const OWN_REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/has no attribute/, 'name that an object lacks'],
  [/hexadecimal digit/, 'text of wrong hex'],
  [/codec can't decode/, 'data that is not an exported channel'],
  [/Decimal inputs require/, 'text of a wrong amount'],
];

function check(line: Line, reported: string, answer: MethodAnswer): void {
  const { result, error } = line.answer;
  if (error === undefined) {
    expect(answer.error, reported).toBeUndefined();
    expect(withoutTime(answer.result), reported).toEqual(withoutTime(result));
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(answer.result)), result))
      accepted.accept('time of a block');
    return;
  }
  expect(answer.error, reported).toBeDefined();
  const theirs = { name: error.data.name, message: error.message };
  const own = OWN_REFUSALS.find(([words]) => words.test(error.message));
  if (own && JSON.stringify(answer.error) !== JSON.stringify(theirs)) accepted.accept(own[1]);
  else expect(answer.error, reported).toEqual(theirs);
}

it.skipIf(lines === null)('makes the same transactions and balances', { timeout: 120_000 }, async () => {
  const chain = new FakeChain();
  // The recording begins with a chain of one block.
  chain.mine();
  const life = await begin(chain);
  const methods = [...implementationsByName().values()];
  let compared = 0;
  for (const [at, line] of lines!.entries()) {
    if (line.kind === 'fund') {
      const tx = made(payment(countOn(chain), line.address, line.dewies));
      expect(hashToHex(tx.txid)).toBe(line.txid);
      chain.mempool.push(tx);
      hub!.tell();
    } else if (line.kind === 'mine') {
      chain.mine(line.count);
      hub!.tell();
    } else {
      const { method } = line;
      if (LEFT_OUT.test(method) || WITH_NEW_SEEDS.includes(method)) continue;
      if (/File does not exist/.test(line.answer.error?.message ?? '')) continue;
      const reported = `line ${at}: ${method} ${JSON.stringify(line.params)}`;
      const answer = await callMethod(methods, life.services, method, withoutFile(line));
      if (COMPARED.test(method)) {
        check(line, reported, answer);
        compared++;
      }
    }
    await life.caughtUp();
  }
  expect(compared).toBeGreaterThan(70);
  expect(accepted.problems()).toEqual([]);
});
