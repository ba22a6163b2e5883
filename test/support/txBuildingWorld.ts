/**
 * A chain in memory and wallets on it, for tests of transaction building. Broadcast transactions are checked (unspent inputs,
 * valid signatures) and accepted. Its claim index has every claim.
 */
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { DaemonError } from '../../src/daemon/base/daemonError.js';
import { ledgerParams } from '../../src/daemon/base/ledgerParams.js';
import type {
  AddressRow,
  CoinCandidate,
  LedgerCoinFilter,
  SpendableCoin,
  TransactionFilter,
} from '../../src/daemon/ledger/ledgerDatabase.js';
import {
  SPENDABLE_TXO_TYPES,
  TXO_TYPE,
  type OutPointRef,
  type TxoFilter,
  type TxoPage,
  type TxoRow,
} from '../../src/daemon/ledger/txoQuery.js';
import { publicKeyOf as channelKeyOf } from '../../src/daemon/txBuilding/ownOutputs.js';
import type {
  AccountPort,
  ClaimsPort,
  TxLedgerPort,
  TxBuildingPorts,
  WalletPort,
} from '../../src/daemon/txBuilding/ports.js';
import { readInputScript, readTimeLock } from '../../src/daemon/txo/scriptTemplates.js';
import { Txo } from '../../src/daemon/txo/txo.js';
import { Account } from '../../src/daemon/wallet/account.js';
import { ChannelKeys } from '../../src/daemon/wallet/channelKeys.js';
import { addressOfKey, KEY_CHAIN, type KeyChain } from '../../src/daemon/wallet/keys.js';
import { assertionFailure, badValue } from '../../src/daemon/base/daemonError.js';
import { decodePurchase } from '../../src/metadata/purchase.js';
import { formatOutPoint, txid, type OutPoint, type Transaction } from '../../src/primitives/transaction.js';
import { SIG_VERSION, SIGHASH, signatureHash } from '../../src/script/sighash.js';
import { payKeyHash } from '../../src/daemon/wallet/tx/newOutputs.js';
import { hashToHex, toHex, type Bytes } from '../../src/util/bytes.js';
import { JsonObject } from '../../src/util/json/json.js';
import { parseUrl } from '../../src/metadata/url.js';
import { systemClock } from '../../src/daemon/base/clock.js';

export const params = ledgerParams('lbc_regtest');

const ADDRESSES_A_CHAIN = 10;

const keyOf = (hash: Bytes, index: number): string => `${hashToHex(hash)}:${index}`;

interface Kept {
  readonly txo: Txo;
  readonly tx: Transaction;
  spentBy: string | null;
  isReserved: boolean;
}

function typeOf(txo: Txo, isPurchase: boolean): number {
  if (txo.isSupport) return TXO_TYPE.support;
  if (txo.isClaim) return TXO_TYPE[txo.claim?.kind ?? 'stream'];
  return isPurchase ? TXO_TYPE.purchase : TXO_TYPE.other;
}

const purchaseIn = ({ outputs }: Transaction): string | null => {
  const [, second] = outputs;
  const data = second
    ? new Txo({
        txid: Buffer.alloc(32),
        nout: 1,
        height: 0,
        amountDewies: 0n,
        script: second.script,
        firstOutPoint: null,
      })
    : null;
  return data?.isData ? hashToHex(decodePurchase(data.read!.values['data']!).claimHash) : null;
};

export class WorldLedger implements TxLedgerPort {
  readonly params = params;
  height = 100;
  readonly kept = new Map<string, Kept>();
  readonly transactions = new Map<string, Transaction>();
  readonly broadcasts: Transaction[] = [];
  /** The error with which every broadcast fails; null for none. */
  refusal: Error | null = null;
  /** Runs before a broadcast is accepted. */
  beforeTaking: () => Promise<void> = () => Promise.resolve();
  isTaken = true;
  /** Numbers of transactions whose chain of unconfirmed ancestors is at the limit. */
  longChains: number[] = [];
  private readonly owners = new Map<string, AddressRow>();
  private count = 0;

  own(row: AddressRow): void {
    this.owners.set(row.address, row);
  }

  get reserved(): string[] {
    return [...this.kept]
      .filter(([, { isReserved, spentBy }]) => isReserved && spentBy === null)
      .map(([key]) => key);
  }

  /** Accepts a transaction without checking its inputs. */
  take(tx: Transaction, height: number): void {
    const hash = txid(tx);
    const id = hashToHex(hash);
    this.transactions.set(id, tx);
    for (const { prevout } of tx.inputs) {
      const spent = this.kept.get(keyOf(prevout.hash, prevout.index));
      if (spent) spent.spentBy = id;
    }
    const firstOutPoint = formatOutPoint(tx.inputs[0]!.prevout);
    for (const [nout, { value, script }] of tx.outputs.entries()) {
      const txo = new Txo({ txid: hash, nout, height, amountDewies: value, script, firstOutPoint });
      this.kept.set(keyOf(hash, nout), { txo, tx, spentBy: null, isReserved: false });
    }
  }

  /** A payment without a previous transaction. */
  give(pubkeyHash: Bytes, amountDewies: bigint, height = 10): Txo {
    return this.giveOutput(payKeyHash(amountDewies, pubkeyHash).script, amountDewies, height);
  }

  giveOutput(script: Buffer, amountDewies: bigint, height = 10): Txo {
    const prevout: OutPoint = { hash: sha256(Buffer.from(`coin ${this.count++}`)), index: 0 };
    const tx: Transaction = {
      version: 1,
      inputs: [{ prevout, scriptSig: Buffer.alloc(0), sequence: 0xffffffff, witness: [] }],
      outputs: [{ value: amountDewies, script }],
      lockTime: 0,
    };
    this.take(tx, height);
    return this.kept.get(keyOf(txid(tx), 0))!.txo;
  }

  async broadcast(tx: Transaction): Promise<void> {
    await this.beforeTaking();
    if (this.refusal) throw this.refusal;
    for (const [n, { prevout, scriptSig }] of tx.inputs.entries()) {
      const spent = this.kept.get(keyOf(prevout.hash, prevout.index));
      if (!spent || spent.spentBy !== null) throw new DaemonError('RPCError', 'txn-mempool-conflict');
      checkSignature(tx, n, scriptSig, spent.txo.script);
    }
    this.take(tx, 0);
    this.broadcasts.push(tx);
  }

  taken(): Promise<boolean> {
    return Promise.resolve(this.isTaken);
  }

  transaction(hash: Uint8Array) {
    const tx = this.transactions.get(hashToHex(hash));
    return Promise.resolve(tx ? { tx, height: 10, position: 0, isVerified: true } : null);
  }

  private rowOf({ txo, tx, spentBy, isReserved }: Kept): TxoRow {
    const address = txo.address(params) ?? '';
    const owner = this.owners.get(address);
    const bought = purchaseIn(tx);
    const isPurchase = bought !== null && txo.nout === 0;
    return {
      txid: Buffer.from(txo.txid),
      nout: txo.nout,
      height: txo.height,
      position: 0,
      isVerified: true,
      amountDewies: txo.amountDewies,
      script: Buffer.from(txo.script),
      address,
      accountId: owner?.accountId ?? null,
      isSpent: spentBy !== null,
      isReserved,
      isMyOutput: owner !== undefined,
      isMyInput: false,
      isInternalTransfer: false,
      txoType: typeOf(txo, isPurchase),
      claimId: txo.claimId ? hashToHex(txo.claimId) : isPurchase ? bought : null,
      claimName: txo.claimName,
      channelId: txo.channelId && hashToHex(txo.channelId),
      repostedClaimId: null,
      hasSource: false,
      firstOutPoint: Buffer.from(txo.firstOutPoint!),
      receivedTipsDewies: null,
    };
  }

  private async coins(
    { accountIds, isConfirmed, notOf = [] }: LedgerCoinFilter,
    fits: (coin: CoinCandidate) => boolean,
  ): Promise<CoinCandidate[]> {
    const coins: CoinCandidate[] = [];
    for (const id of accountIds) coins.push(...(await this.database.spendable([id])));
    return coins.filter(
      (coin) => (!isConfirmed || coin.height > 0) && !notOf.includes(coin.tx) && fits(coin),
    );
  }

  readonly database: TxLedgerPort['database'] = {
    txos: (filter: TxoFilter, page: TxoPage = {}): Promise<TxoRow[]> => {
      const rows = [...this.kept.values()].map((kept) => this.rowOf(kept)).filter((row) => fits(row, filter));
      return Promise.resolve(rows.slice(0, page.limit));
    },
    spendable: async (accountIds): Promise<CoinCandidate[]> => {
      const rows = await this.database.txos({ accountIds, isSpent: false, types: SPENDABLE_TXO_TYPES });
      const keys = [...this.kept.keys()];
      return rows.map((row) => ({
        ...row,
        number: keys.indexOf(keyOf(row.txid, row.nout)),
        tx: [...this.transactions.keys()].indexOf(hashToHex(row.txid)),
      }));
    },
    coinTotals: async (filter, fromDewies) => {
      const coins = await this.coins(filter, ({ amountDewies }) => amountDewies >= (fromDewies ?? 0n));
      return {
        count: coins.length,
        amounts: new Set(coins.map(({ amountDewies }) => amountDewies)).size,
        sumDewies: coins.reduce((sum, { amountDewies }) => sum + amountDewies, 0n),
      };
    },
    coinAmounts: async (filter, belowDewies) => {
      const coins = await this.coins(
        filter,
        ({ amountDewies }) => belowDewies === null || amountDewies < belowDewies,
      );
      const amounts = [...new Set(coins.map(({ amountDewies }) => amountDewies))];
      return amounts
        .sort((a, b) => (a < b ? 1 : -1))
        .map((amount) => ({
          amountDewies: amount,
          count: coins.filter(({ amountDewies }) => amountDewies === amount).length,
        }));
    },
    leastCoinAmount: async (filter, fromDewies) => {
      const coins = await this.coins(filter, ({ amountDewies }) => amountDewies >= fromDewies);
      return coins.map(({ amountDewies }) => amountDewies).sort((a, b) => (a < b ? -1 : 1))[0] ?? null;
    },
    coinsOfAmount: async (filter, { amountDewies, count }) => {
      const coins = await this.coins(filter, (coin) => coin.amountDewies === amountDewies);
      return coins.slice(0, count).map(({ number }) => number);
    },
    longChains: () => Promise.resolve(this.longChains),
    reserveCoins: async (candidates): Promise<SpendableCoin[] | null> => {
      const all = [...this.kept.values()];
      const rows = candidates.map((number) => this.rowOf(all[number]!));
      return (await this.database.reserve(rows)) ? rows : null;
    },
    reserve: (outPoints: readonly OutPointRef[]): Promise<boolean> => {
      const all = outPoints.map(({ txid: hash, nout }) => this.kept.get(keyOf(hash, nout)));
      if (all.some((one) => !one || one.spentBy !== null || one.isReserved)) return Promise.resolve(false);
      for (const one of all) one!.isReserved = true;
      return Promise.resolve(true);
    },
    release: (outPoints: readonly OutPointRef[]): Promise<void> => {
      for (const { txid: hash, nout } of outPoints) {
        const one = this.kept.get(keyOf(hash, nout));
        if (one) one.isReserved = false;
      }
      return Promise.resolve();
    },
    transactionCount: ({ purchasedClaimIds = [] }: TransactionFilter): Promise<number> =>
      Promise.resolve(
        [...this.transactions.values()].filter((tx) => purchasedClaimIds.includes(purchaseIn(tx) ?? ''))
          .length,
      ),
    addresses: ({ address }): Promise<AddressRow[]> => {
      const row = this.owners.get(address ?? '');
      return Promise.resolve(row ? [row] : []);
    },
  };

  /** Unspent claims, the latest first. */
  private claimList(): Txo[] {
    return [...this.kept.values()]
      .filter(({ txo, spentBy }) => spentBy === null && txo.isClaim)
      .map(({ txo }) => txo)
      .reverse();
  }

  /** Claims by id and by URL, without the checks of the real claim index. */
  readonly claims: ClaimsPort = {
    byId: (id) =>
      Promise.resolve(this.claimList().find(({ claimId }) => claimId && hashToHex(claimId) === id) ?? null),
    at: (url) => {
      const parsed = parseUrl(url);
      const name = (parsed?.stream ?? parsed?.channel)?.name;
      return Promise.resolve(this.claimList().find(({ claimName }) => claimName === name) ?? null);
    },
    channelOfKey: (id) =>
      Promise.resolve(
        this.claimList().find((txo) => {
          const key = channelKeyOf(txo);
          return key !== null && addressOfKey(key, params) === id;
        }) ?? null,
      ),
  };
}

function fits(row: TxoRow, filter: TxoFilter): boolean {
  const isAny = <Value>(allowed: readonly Value[] | undefined, value: Value): boolean =>
    allowed === undefined || allowed.includes(value);
  return (
    row.accountId !== null &&
    filter.accountIds.includes(row.accountId) &&
    isAny(filter.types, row.txoType) &&
    isAny(filter.claimIds, row.claimId ?? '') &&
    isAny(filter.names, row.claimName ?? '') &&
    isAny(
      filter.txids?.map((hash) => toHex(hash)),
      toHex(row.txid),
    ) &&
    (filter.nout === undefined || filter.nout === row.nout) &&
    (filter.isSpent !== false || (!row.isSpent && !row.isReserved))
  );
}

function checkSignature(tx: Transaction, n: number, scriptSig: Bytes, script: Bytes): void {
  const { values } = readInputScript(scriptSig);
  const redeemScript = values['script'];
  const hash = redeemScript
    ? readTimeLock(redeemScript).pubkeyHash
    : new Txo({
        txid: Buffer.alloc(32),
        nout: 0,
        height: 0,
        amountDewies: 0n,
        script,
        firstOutPoint: null,
      }).read!.values['pubkey_hash'];
  const { signature, pubkey } = values;
  const digest = signatureHash(redeemScript ?? script, tx, n, SIGHASH.ALL, 0n, SIG_VERSION.BASE);
  const isGood =
    hash !== undefined &&
    toHex(hash160(pubkey!)) === toHex(hash) &&
    ecdsaBackend().verify(digest, signature!.subarray(0, -1), pubkey!);
  if (!isGood) throw new DaemonError('RPCError', 'mandatory-script-verify-flag-failed');
}

export class WorldAccount implements AccountPort {
  readonly account: Account;
  readonly channelKeys: ChannelKeys;
  /** All change is paid to this key hash: the first of the change chain, or the only one of a single-address account. */
  readonly change: Buffer;
  private readonly world: WorldLedger;
  private readonly keys = new Map<string, readonly [KeyChain, number]>();
  readonly changeInHand = new Set<string>();
  readonly receivingInHand = new Set<string>();
  private received = 0;

  constructor(world: WorldLedger, json: JsonObject) {
    this.world = world;
    const clock = { ...systemClock, nowSec: () => 1_700_000_000 };
    this.account = new Account(json, { clock, random: { bytes: (count) => Buffer.alloc(count) } });
    this.channelKeys = new ChannelKeys(this.account, () => Promise.resolve(this.keysInUse()));
    const isSingle = this.account.generator.name === 'single-address';
    const chains = isSingle ? [KEY_CHAIN.receiving] : [KEY_CHAIN.receiving, KEY_CHAIN.change];
    for (const chain of chains)
      for (let index = 0; index < (isSingle ? 1 : ADDRESSES_A_CHAIN); index++) this.watch(chain, index);
    this.change = hash160(this.account.key(isSingle ? KEY_CHAIN.receiving : KEY_CHAIN.change, 0).publicKey);
  }

  private watch(chain: KeyChain, index: number): void {
    const { publicKey, chainCode, depth } = this.account.key(chain, index);
    const address = addressOfKey(publicKey, params);
    this.keys.set(toHex(hash160(publicKey)), [chain, index]);
    this.world.own({
      address,
      accountId: this.id,
      chain,
      index,
      usedTimes: 0,
      publicKey: Buffer.from(publicKey),
      chainCode: Buffer.from(chainCode),
      depth,
    });
  }

  get id(): string {
    return this.account.id;
  }

  get isSpendable(): boolean {
    return this.account.isSpendable;
  }

  keyHash(index: number): Buffer {
    return hash160(this.account.key(KEY_CHAIN.receiving, index).publicKey);
  }

  address(index: number): string {
    return addressOfKey(this.account.key(KEY_CHAIN.receiving, index).publicKey, params);
  }

  takeReceivingAddress(): Promise<string> {
    const address = this.address(this.received++ % ADDRESSES_A_CHAIN);
    this.receivingInHand.add(address);
    return Promise.resolve(address);
  }

  freeAddress(address: string): void {
    this.receivingInHand.delete(address);
  }

  nextChangeKeyHash(): Promise<Buffer> {
    this.changeInHand.add(toHex(this.change));
    return Promise.resolve(this.change);
  }

  freeChangeKeyHash(keyHash: Bytes): void {
    this.changeInHand.delete(toHex(keyHash));
  }

  privateKeyOf(pubkeyHash: Bytes): Bytes | null {
    const place = this.keys.get(toHex(pubkeyHash));
    return place ? this.account.key(...place).privateKey : null;
  }

  private keysInUse(): Bytes[] {
    return [...this.world.kept.values()].flatMap(({ txo }) => {
      const type = txo.claim?.claim.type;
      return type?.case === 'channel' ? [type.value.publicKey] : [];
    });
  }
}

export class WorldWallet implements WalletPort {
  readonly accounts: WorldAccount[];
  private readonly world: WorldLedger;
  isLocked = false;
  /** For each save of the wallet, the number of broadcasts that had been accepted before. */
  readonly saves: number[] = [];
  failsToSave = false;

  constructor(world: WorldLedger, seeds: readonly string[]) {
    this.world = world;
    this.accounts = seeds.map(
      (seed) =>
        new WorldAccount(
          world,
          new JsonObject([
            ['ledger', params.id],
            ['seed', seed],
          ]),
        ),
    );
  }

  account(id?: string): WorldAccount {
    const found = id === undefined ? this.accounts[0] : this.accounts.find((one) => one.id === id);
    if (!found) throw badValue(`Couldn't find account: ${id}.`);
    return found;
  }

  accountsOrAll(ids?: readonly string[]): readonly WorldAccount[] {
    return ids && ids.length > 0 ? ids.map((id) => this.account(id)) : this.accounts;
  }

  async accountOf(address: string): Promise<WorldAccount | null> {
    const [row] = await this.world.database.addresses({ accountIds: [], address });
    return this.accounts.find(({ id }) => id === row?.accountId) ?? null;
  }

  addAccount(json: JsonObject): Promise<WorldAccount> {
    const account = new WorldAccount(this.world, json);
    this.accounts.push(account);
    return Promise.resolve(account);
  }

  assertUnlocked(): void {
    if (this.isLocked) throw assertionFailure('Cannot spend funds with locked wallet, unlock first.');
  }

  save(): Promise<void> {
    if (this.failsToSave) return Promise.reject(new Error('disk full'));
    this.saves.push(this.world.broadcasts.length);
    return Promise.resolve();
  }
}

const SEEDS = [
  'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent',
  'abandon ability able about above absent absorb abstract absurd abuse access accident',
];

/** A ledger, a wallet with two accounts, and a transaction builder for them. */
export function txBuildingWorld(settings: Partial<TxBuildingPorts['settings']> = {}) {
  const ledger = new WorldLedger();
  const wallet = new WorldWallet(ledger, SEEDS);
  let draws = 0;
  const ports: TxBuildingPorts = {
    ledger,
    claims: ledger.claims,
    publishing: () => {
      throw new Error('files are not part of this test');
    },
    hasFiles: () => false,
    exchange: {
      toDewies(currency, amount) {
        if (currency === 'LBC') return BigInt(Math.round(Number(amount) * 1e8));
        if (currency === 'USD') return BigInt(Math.round(Number(amount) * 20e8));
        throw new DaemonError(
          'CurrencyConversionError',
          `Unable to convert ${amount} from ${currency} to LBC`,
        );
      },
    },
    clock: { ...systemClock, nowSec: () => 1_700_000_000 },
    random: { bytes: (count) => sha256(Buffer.from(`draw ${draws++}`)).subarray(0, count) },
    settings: { strategy: 'prefer_confirmed', feePerNameChar: 0n, maxKeyFee: null, ...settings },
  };
  return { ledger, wallet, ports };
}

export const publicKeyOf = (secret: Bytes): Bytes => ecdsaBackend().publicKeyOf(secret, true);
