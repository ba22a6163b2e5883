/** Formats blocks and headers for RPC results. Source: lbrycrd rpc/blockchain.cpp `blockheaderToJSON`, `blockToJSON`. */
import type { ChainReader } from '../../chain/chainReader.js';
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { BlockHeader } from '../../primitives/header.js';
import { txidAt } from '../../primitives/blockView.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { jsonArray, rawJson, smallJson, type JsonOut } from '../../util/json/jsonWrite.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { difficultyAnswer, type View } from './difficulty.js';
import type { BlockPart, BlockText, BlockTextCache } from '../../interfaces/blockTexts.js';
import type { ScriptContext } from './script.js';
import {
  rawTransactionAtAnswer,
  shownTransactionAt,
  transactionAnswer,
  TRANSACTION_FIELDS,
} from './transaction.js';

/** Formats an unsigned 32-bit number as 8 hex digits. */
export function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}

/** Formats an unsigned 256-bit number as 64 hex digits. */
export function hex256(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** Returns the number of confirmations: 1 for the tip, −1 for a block that is not on the active chain. */
export function confirmationsOf(reader: ChainReader, id: number): number {
  const { active } = reader.chain.index;
  return active.contains(id) ? active.height - reader.headers.height(id) + 1 : -1;
}

const ABOVE_FIELDS: SchemaFields = {
  hash: t.hash('the block hash'),
  confirmations: t.int('the number of confirmations, or -1 if the block is not on the main chain'),
};

const BELOW_HEIGHT_FIELDS: SchemaFields = {
  height: t.int('the height'),
  version: t.int('the version'),
  versionHex: t.str('the version in hexadecimal'),
  merkleroot: t.hash('the merkle root'),
  nameclaimroot: t.hash('the hash of the root of the claim trie'),
};

const TAIL_FIELDS: SchemaFields = {
  time: t.time('the block time'),
  mediantime: t.time('the median block time'),
  nonce: t.int('the nonce'),
  bits: t.str('the compact target in hexadecimal'),
  difficulty: t.num('the difficulty'),
  chainwork: t.str(
    'expected number of hashes to produce the chain up to this block, as 64 hex digits; in the lbcd ' +
      'profile without leading zeros if the result is a block',
  ),
  nTx: t.int('the number of transactions in the block; 0 if the node never had its data'),
  previousblockhash: t.optional(t.hash('the previous block'), 'absent for the genesis block'),
  nextblockhash: t.optional(t.hash('the hash of the next block on the main chain'), 'when there is one'),
};

export const HEADER_SCHEMA = t.named(
  'BlockHeader',
  t.object({ ...ABOVE_FIELDS, ...BELOW_HEIGHT_FIELDS, ...TAIL_FIELDS }),
);

function blockSchema(tx: SchemaFields[string]): SchemaFields {
  return {
    ...ABOVE_FIELDS,
    strippedsize: t.int('size in bytes without witness data'),
    size: t.int('bytes'),
    weight: t.int('weight as BIP 141 defines it'),
    ...BELOW_HEIGHT_FIELDS,
    tx,
    ...TAIL_FIELDS,
  };
}

export const BLOCK_SCHEMA = t.named('Block', t.object(blockSchema(t.array(t.hash('a transaction id')))));

export const BLOCK_WITH_TRANSACTIONS_SCHEMA = t.named(
  'BlockWithTransactions',
  t.object(
    blockSchema(
      t.array(
        t.object({
          ...TRANSACTION_FIELDS,
          hex: t.hex('the serialized transaction'),
          blockhash: t.optional(t.hash('the hash of the block'), 'in the lbcd profile'),
          confirmations: t.optional(t.int('the confirmations'), 'in the lbcd profile'),
          time: t.optional(t.time('the block time'), 'in the lbcd profile'),
          blocktime: t.optional(t.time('the same value as "time"'), 'in the lbcd profile'),
        }),
        'the transactions, in the form of getrawtransaction',
      ),
    ),
  ),
);

function placeAnswer(reader: ChainReader, id: number): Record<string, JsonOut> {
  return { hash: hashToHex(reader.headers.hash(id)), confirmations: confirmationsOf(reader, id) };
}

function headAnswer(height: number, header: BlockHeader): Record<string, JsonOut> {
  return {
    height,
    version: header.version,
    versionHex: hex32(header.version),
    merkleroot: hashToHex(header.merkleRoot),
    nameclaimroot: hashToHex(header.claimRoot),
  };
}

function tailAnswer(
  reader: ChainReader,
  id: number,
  header: BlockHeader,
  view: View | undefined,
): Record<string, JsonOut | undefined> {
  const { headers } = reader;
  const { active } = reader.chain.index;
  const next = active.next(id);
  return {
    time: header.timeSec,
    mediantime: active.medianTimeOf(id),
    nonce: header.nonce,
    bits: hex32(header.bits),
    difficulty: difficultyAnswer(header.bits, view),
    chainwork: workAnswer(headers.workHex(id), view),
    nTx: headers.txCount(id),
    previousblockhash: headers.prev(id) === NO_HEADER ? undefined : hashToHex(header.prevHash),
    nextblockhash: next === NO_HEADER ? undefined : hashToHex(headers.hash(next)),
  };
}

/** Formats chain work. In the lbcd profile leading zeros are omitted. */
function workAnswer(hex: string, view: View | undefined): string {
  return view?.profile === 'lbcd' ? hex.replace(/^0+(?=.)/, '') : hex;
}

export function headerAnswer(
  reader: ChainReader,
  id: number,
  header: BlockHeader,
  view?: View,
): Record<string, JsonOut | undefined> {
  const { headers } = reader;
  const { active } = reader.chain.index;
  const next = active.next(id);
  // The object is created field by field, because object spread takes longer than the computation of all fields.
  return {
    hash: hashToHex(headers.hash(id)),
    confirmations: confirmationsOf(reader, id),
    height: headers.height(id),
    version: header.version,
    versionHex: hex32(header.version),
    merkleroot: hashToHex(header.merkleRoot),
    nameclaimroot: hashToHex(header.claimRoot),
    time: header.timeSec,
    mediantime: active.medianTimeOf(id),
    nonce: header.nonce,
    bits: hex32(header.bits),
    difficulty: difficultyAnswer(header.bits, view),
    chainwork: workAnswer(headers.workHex(id), view),
    nTx: headers.txCount(id),
    // In the lbcd profile the genesis block also has the field `previousblockhash`, with a hash of zeros.
    previousblockhash:
      headers.prev(id) === NO_HEADER && view?.profile !== 'lbcd' ? undefined : hashToHex(header.prevHash),
    nextblockhash: next === NO_HEADER ? undefined : hashToHex(headers.hash(next)),
  };
}

export interface BlockAnswerOptions {
  readonly context: ScriptContext;
  readonly withTransactions: boolean;
  readonly serializeWitness: boolean;
  readonly params: View['params'];
  /** Cache of serialized transactions of blocks; null if disabled. */
  readonly texts: BlockTextCache | null;
}

/** Returns the cache of the block's serialized transactions; null if the cache is disabled or the text may change later. */
function textsFor({ context, withTransactions, texts }: BlockAnswerOptions): BlockTextCache | null {
  return !withTransactions || (context.profile !== 'lbcd' && !context.metadata) ? texts : null;
}

function partOf({ withTransactions }: BlockAnswerOptions): BlockPart {
  return withTransactions ? 'transactions' : 'ids';
}

/** Returns the result for a block if the cache has the text of its transactions; null for other blocks. */
export function keptBlockAnswer(
  reader: ChainReader,
  id: number,
  options: BlockAnswerOptions,
): JsonOut | null {
  const kept = textsFor(options)?.find(id, partOf(options));
  return kept === undefined ? null : answerOf(reader, id, kept, rawJson(kept.transactions), options);
}

/** Returns the result for a block. Its transactions are formatted while the response is written. */
export function blockAnswer(
  reader: ChainReader,
  id: number,
  block: LoadedBlock,
  options: BlockAnswerOptions,
): JsonOut {
  const { header, parsed } = block;
  const place = options.context.profile === 'lbcd' ? placeInBlock(reader, id, header) : {};
  const shown = { header, ...sizesOf(parsed) };
  if (!options.withTransactions) return answerOf(reader, id, shown, idsOf(id, block, options), options);
  const tx = jsonArray(transactionsOf(id, block, options, place));
  return answerOf(reader, id, shown, tx, options);
}

type ShownBlock = Omit<BlockText, 'transactions'>;

function sizesOf({
  strippedSizeBytes,
  sizeBytes,
  weight,
}: LoadedBlock['parsed']): Omit<ShownBlock, 'header'> {
  return { strippedSizeBytes, sizeBytes, weight };
}

function answerOf(
  reader: ChainReader,
  id: number,
  { header, strippedSizeBytes, sizeBytes, weight }: ShownBlock,
  tx: JsonOut,
  { context, params }: BlockAnswerOptions,
): JsonOut {
  const view: View = { profile: context.profile, params };
  return {
    ...placeAnswer(reader, id),
    strippedsize: strippedSizeBytes,
    size: sizeBytes,
    weight,
    ...headAnswer(reader.headers.height(id), header),
    tx,
    ...tailAnswer(reader, id, header, view),
  };
}

/** The ids of the transactions. Their text is cached. */
function idsOf(id: number, { parsed, header }: LoadedBlock, options: BlockAnswerOptions): JsonOut {
  const ids: string[] = [];
  for (let n = 0; n < parsed.txCount; n++) ids.push(hashToHex(txidAt(parsed, n)));
  const transactions = `["${ids.join('","')}"]`;
  textsFor(options)?.keep(id, partOf(options), { header, ...sizesOf(parsed), transactions });
  return rawJson(transactions);
}

/** Returns the fields about the block that lbcd adds to each transaction of a block. */
function placeInBlock(reader: ChainReader, id: number, { timeSec }: BlockHeader): Record<string, JsonOut> {
  const blockhash = hashToHex(reader.headers.hash(id));
  return { blockhash, confirmations: confirmationsOf(reader, id), time: timeSec, blocktime: timeSec };
}

/**
 * Yields each transaction as text. Each small transaction is serialized in one step, and the writer yields to the event loop
 * between two transactions. Text that cannot change is cached after it was written completely.
 */
function* transactionsOf(
  id: number,
  block: LoadedBlock,
  options: BlockAnswerOptions,
  place: Record<string, JsonOut>,
): Generator<JsonOut> {
  const { parsed, header } = block;
  const texts = textsFor(options);
  /** Text written so far, which is cached when it is complete; null if it must not be cached. */
  let written: string[] | null = texts ? [] : null;
  let chars = 0;
  for (let n = 0; n < parsed.txCount; n++) {
    const shown = shownTransactionAt(block, n);
    const answer = {
      ...transactionAnswer(shown, options.context),
      hex: rawTransactionAtAnswer(block, n, shown, options.serializeWitness),
      ...place,
    };
    const text = smallJson(answer);
    if (text === null || (chars += text.length + 1) > (texts?.maxChars ?? 0)) written = null;
    else written?.push(text);
    yield text === null ? answer : rawJson(text);
  }
  if (written !== null)
    texts?.keep(id, partOf(options), { header, ...sizesOf(parsed), transactions: `[${written.join()}]` });
}
