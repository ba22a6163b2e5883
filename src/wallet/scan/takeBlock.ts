/**
 * Finds a wallet's transactions in blocks and in the mempool, and adds them to the wallet, for the follower and for rescans.
 * Nearly all transactions of a block are excluded without parsing. Source: lbrycrd wallet/wallet.cpp `SyncTransaction`,
 * `AddToWalletIfInvolvingMe`.
 */
import {
  INPUT_PREVOUT,
  INPUT_STRIDE,
  OUTPUT_SCRIPT,
  OUTPUT_SCRIPT_LENGTH,
  OUTPUT_STRIDE,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { parseTxView, txBytes, txidAt, type ParsedBlock } from '../../primitives/blockView.js';
import { parseTransaction } from '../../primitives/transaction.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import type { Slices } from '../../util/slices.js';
import { keyIdsOf } from '../keys/affectedKeys.js';
import { couldPayTo } from '../keys/scriptFilter.js';
import type { Entry } from '../ledger/entry.js';
import type { ChainPlace } from '../ledger/ledgerPort.js';
import { WalletTxFacts } from '../ledger/txFacts.js';
import type { WalletBlock } from '../port.js';
import type { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';

const OUTPOINT_BYTES = 36;
const TXID_BYTES = 32;
/** Maximum number of keys that are created in each pool for one block. Creating this number takes less than a time slice. */
const KEYS_A_BLOCK = 16;

/** Options for scanning one block for transactions of a wallet. */
export interface ScanState {
  /**
   * Height of the first block of the scan. If needed keys cannot be created, because the wallet is locked or too many are
   * needed, a rescan of the blocks from this height on is recorded as owed (`shortage.ts`).
   */
  readonly since: number;
  /**
   * Entries that were already announced. A block is scanned once more if it caused new keys to be created, but each
   * transaction is announced only once.
   */
  readonly reported: Set<Entry>;
  /** Whether only new and changed transactions are announced. Used for scans that the wallet itself started. */
  readonly onlyChanges?: boolean;
}

/** Transactions of a block with precomputed data, by their position in the block. */
export type FactsAhead = ReadonlyMap<number, WalletTxFacts>;

/**
 * Minimum number of the wallet's transactions in a block for which the block is prepared in advance. Applying fewer
 * transactions takes less than a time slice.
 */
export const MANY = 64;

/** Whether a block contains so many transactions of the wallet that applying it without a yield would block the event loop. */
export function hasMuchOf(wallet: Wallet, { raw, parsed }: WalletBlock): boolean {
  if (parsed.txCount < MANY) return false;
  for (let index = 0, found = 0; index < parsed.txCount; index++)
    if (concernsWallet(wallet, raw, parsed, index) && ++found === MANY) return true;
  return false;
}

/** Precomputes the data that `takeBlock` needs, for those transactions that concern the wallet with its current keys. */
export function* factsAhead(wallet: Wallet, { raw, parsed }: WalletBlock): Slices<FactsAhead> {
  const ahead = new Map<number, WalletTxFacts>();
  for (let index = 0; index < parsed.txCount; index++) {
    if (concernsWallet(wallet, raw, parsed, index)) {
      const facts = factsAt(raw, parsed, index);
      wallet.ledger.prepare(facts);
      ahead.set(index, facts);
      yield;
    } else if (index % 64 === 0) yield;
  }
  return ahead;
}

function factsAt(raw: Buffer, parsed: ParsedBlock, index: number): WalletTxFacts {
  const bytes = txBytes(raw, parsed, index);
  return new WalletTxFacts(parseTransaction(new Reader(bytes)), bytes);
}

/**
 * Applies the wallet's transactions of a block. Includes transactions that pay to keys which are created while the block is
 * applied. Until the end the block is only partly applied. `ahead` contains data that was computed in advance, which saves
 * time and does not change the result.
 */
export function* takeBlock(
  wallet: Wallet,
  batch: WalletBatch,
  block: WalletBlock,
  look: ScanState,
  ahead: FactsAhead = new Map(),
): Slices<void> {
  const { raw, parsed, height, hash, timeSec } = block;
  const { keyring } = wallet;
  const firstCount = keyring.keyCount;
  for (let keyCount = -1; keyCount !== keyring.keyCount;) {
    // The block is scanned again while keys are created, because a transaction may pay to a key that was created because
    // of a later transaction.
    keyCount = keyring.keyCount;
    for (let index = 0; index < parsed.txCount; index++) {
      if (!concernsWallet(wallet, raw, parsed, index)) {
        if (index % 64 === 0) yield;
        continue;
      }
      const facts = ahead.get(index) ?? factsAt(raw, parsed, index);
      const most = Math.max(KEYS_A_BLOCK - (keyring.keyCount - firstCount), 0);
      take(wallet, batch, facts, { blockHash: hash, height, timeSec, index }, look, most);
      yield;
    }
  }
}

/** Applies a mempool transaction if it concerns the wallet. */
export function takeUnconfirmed(wallet: Wallet, batch: WalletBatch, txid: Bytes, bytes: Buffer): void {
  const { ledger } = wallet;
  if (!ledger.has(toLatin1(txid)) && !concernsWallet(wallet, bytes, parseTxView(bytes), 0)) return;
  const look = { since: wallet.followedHeight + 1, reported: new Set<Entry>() };
  take(
    wallet,
    batch,
    new WalletTxFacts(parseTransaction(new Reader(bytes)), bytes),
    null,
    look,
    KEYS_A_BLOCK,
  );
  ledger.setInMempool(txid, true);
}

function take(
  wallet: Wallet,
  batch: WalletBatch,
  facts: WalletTxFacts,
  place: ChainPlace | null,
  { since, reported, onlyChanges = false }: ScanState,
  most: number,
): void {
  const { keyring, ledger } = wallet;
  // Keys are created before the transaction is added, because outputs of the transaction may pay to the new keys.
  for (let keyCount = -1; keyCount !== keyring.keyCount;) {
    keyCount = keyring.keyCount;
    const used = facts.tx.outputs.flatMap(({ script }) => keyIdsOf(keyring, script));
    if (!wallet.keys.noteUsed(batch, used, most)) wallet.scans.noteShortage(batch, since);
  }
  const sizeBefore = ledger.size;
  const known = onlyChanges ? ledger.entry(facts.key) : undefined;
  const before = known && [known.row, known.state, known.outputs];
  const entry = ledger.add(batch, facts, place);
  if (entry === null || reported.has(entry)) return;
  reported.add(entry);
  const after = [entry.row, entry.state, entry.outputs];
  if (before?.every((one, at) => one === after[at]) === true) return;
  wallet.announce(entry, ledger.size > sizeBefore);
}

/**
 * Whether a serialized transaction concerns the wallet: it may pay to the wallet, or it spends an output that the wallet
 * owns or that another transaction of the wallet spends.
 */
export function txConcernsWallet(wallet: Wallet, bytes: Buffer): boolean {
  return concernsWallet(wallet, bytes, parseTxView(bytes), 0);
}

/**
 * Whether a transaction concerns the wallet: it may pay to the wallet, or it spends an output that the wallet owns or that
 * another transaction of the wallet spends.
 */
function concernsWallet(
  { ledger, keyring }: Wallet,
  raw: Buffer,
  parsed: ParsedBlock,
  index: number,
): boolean {
  const { txs, inputs, outputs } = parsed;
  const at = index * TX_STRIDE;
  const firstOutput = txs[at + TX_FIRST_OUTPUT]!;
  const endOutput = firstOutput + txs[at + TX_OUTPUT_COUNT]!;
  for (let n = firstOutput; n < endOutput; n++) {
    const start = outputs[n * OUTPUT_STRIDE + OUTPUT_SCRIPT]!;
    if (couldPayTo(keyring, raw, start, outputs[n * OUTPUT_STRIDE + OUTPUT_SCRIPT_LENGTH]!)) return true;
  }
  if (ledger.mayKnow(parsed.txids, index * TXID_BYTES) && ledger.has(toLatin1(txidAt(parsed, index))))
    return true;
  if (ledger.size === 0 || (txs[at + TX_FLAGS]! & TX_IS_COINBASE) !== 0) return false;
  const firstInput = txs[at + TX_FIRST_INPUT]!;
  const endInput = firstInput + txs[at + TX_INPUT_COUNT]!;
  for (let n = firstInput; n < endInput; n++) {
    const start = inputs[n * INPUT_STRIDE + INPUT_PREVOUT]!;
    if (ledger.mayKnow(raw, start) && ledger.concerns(raw.toString('latin1', start, start + OUTPOINT_BYTES)))
      return true;
  }
  return false;
}
