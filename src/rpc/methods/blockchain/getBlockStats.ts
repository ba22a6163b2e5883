/**
 * `getblockstats`: statistics of one block. Fees are computed from the block's undo data, so no transaction index is needed.
 * The lbrycrd profile requires the index nevertheless, as the reference does. Source: lbrycrd rpc/blockchain.cpp.
 */
import type { LoadedBlock } from '../../../chain/blocks/loadedBlock.js';
import { MAX_BLOCK_SERIALIZED_SIZE, MAX_MONEY, WITNESS_SCALE_FACTOR } from '../../../consensus/limits.js';
import { blockSubsidy } from '../../../consensus/subsidy.js';
import { compactSizeLength } from '../../../consensus/txSize.js';
import type { CoinValue } from '../../../native/binding.js';
import {
  OUTPUT_SCRIPT_LENGTH,
  OUTPUT_STRIDE,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_HAS_WITNESS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../../primitives/blockLayout.js';
import { outputAmountAt, txSizeBytes, txWeight } from '../../../primitives/blockView.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { hashToHex } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { readBlockChecked, readUndoChecked, requireBlock } from '../../lookup/blockLookup.js';
import { inSlices } from '../../../scheduler/slices.js';
import type { Slices } from '../../../util/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { networkName } from '../../format/networkName.js';
import { defineMethod, type Profile } from '../../declare/method.js';
import { getInt, getString, parseLooseHash } from '../../declare/paramTypes.js';
import { t, type SchemaFields } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { isJsonNumber, type JsonValue } from '../../../util/json/json.js';

/**
 * Size in bytes of outpoint, height and coinbase flag of an entry in the reference's coin database. Source:
 * `PER_UTXO_OVERHEAD`.
 */
const COIN_OVERHEAD_BYTES = 41;
/** Size of an output's amount in bytes. */
const AMOUNT_BYTES = 8;
const PERCENTILES = [0.1, 0.25, 0.5, 0.75, 0.9] as const;
const SCALE = BigInt(WITNESS_SCALE_FACTOR);

const FIELDS: SchemaFields = {
  avgfee: t.sats('average fee in the block'),
  avgfeerate: t.int('average fee rate in satoshis per virtual byte'),
  avgtxsize: t.int('average transaction size'),
  blockhash: t.hash('the block hash, to detect reorganisations'),
  feerate_percentiles: t.array(
    t.int('satoshis per virtual byte'),
    'fee rates at the 10th, 25th, 50th, 75th and 90th percentile of weight',
  ),
  height: t.int('the height of the block'),
  ins: t.int('the number of inputs, excluding the coinbase'),
  maxfee: t.sats('largest fee'),
  maxfeerate: t.int('largest fee rate in satoshis per virtual byte'),
  maxtxsize: t.int('largest transaction size'),
  medianfee: t.sats('truncated median fee'),
  mediantime: t.time('the median time past of the block'),
  mediantxsize: t.int('truncated median transaction size'),
  minfee: t.sats('smallest fee'),
  minfeerate: t.int('smallest fee rate in satoshis per virtual byte'),
  mintxsize: t.int('smallest transaction size'),
  outs: t.int('the number of outputs'),
  subsidy: t.sats('the block subsidy'),
  swtotal_size: t.int('total size of the transactions with witness data'),
  swtotal_weight: t.int('total weight of the transactions with witness data'),
  swtxs: t.int('the number of transactions with witness data'),
  time: t.time('the block time'),
  total_out: t.sats('total amount of the outputs, excluding the coinbase'),
  total_size: t.int('total size of the transactions, excluding the coinbase'),
  total_weight: t.int('total weight of the transactions, excluding the coinbase'),
  totalfee: t.sats('the fee total'),
  txs: t.int('the number of transactions, including the coinbase'),
  utxo_increase: t.int('the increase of the number of unspent outputs'),
  utxo_size_inc: t.int(
    'the increase of the size of the set of unspent outputs, including unspendable outputs',
  ),
};

/** Names of those statistics for which the outputs spent by the block must be read. */
const NEEDS_INPUTS = new Set([
  'medianfee',
  'feerate_percentiles',
  'utxo_size_inc',
  'totalfee',
  'avgfee',
  'avgfeerate',
  'minfee',
  'maxfee',
  'minfeerate',
  'maxfeerate',
]);

interface TxFigures {
  feeSat: bigint;
  /** Fee rate in satoshis per virtual byte, truncated. */
  feeRate: bigint;
  sizeBytes: number;
  weight: number;
}

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the median; for an even number of values the truncated mean of the two middle ones; 0 without values. Source:
 * `CalculateTruncatedMedian`.
 */
function truncatedMedian(values: bigint[]): bigint {
  const sorted = values.sort(ascending);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return 0n;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2n;
}

/** Source: `CalculatePercentilesByWeight`. */
function feeRatePercentiles(txs: readonly TxFigures[], totalWeight: number): bigint[] {
  if (txs.length === 0) return PERCENTILES.map(() => 0n);
  const sorted = [...txs].sort((a, b) => ascending(a.feeRate, b.feeRate) || a.weight - b.weight);
  const result: bigint[] = [];
  let weight = 0;
  for (const tx of sorted) {
    weight += tx.weight;
    while (result.length < PERCENTILES.length && weight >= totalWeight * PERCENTILES[result.length]!) {
      result.push(tx.feeRate);
    }
  }
  while (result.length < PERCENTILES.length) result.push(sorted[sorted.length - 1]!.feeRate);
  return result;
}

function coinSizeBytes(scriptLength: number): number {
  return AMOUNT_BYTES + compactSizeLength(scriptLength) + scriptLength + COIN_OVERHEAD_BYTES;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Computes all statistics that can be derived from the block and the outputs that it spends, in the reference's order. */
function blockFigures(block: LoadedBlock, spent: readonly CoinValue[]): Record<string, JsonOut> {
  const { raw, parsed } = block;
  const { txs, outputs } = parsed;
  const figures: TxFigures[] = [];
  const witness = { txs: 0, sizeBytes: 0, weight: 0 };
  let outputCount = 0;
  let inputCount = 0;
  let totalOutSat = 0n;
  let coinBytes = 0;
  for (let n = 0; n < parsed.txCount; n++) {
    const row = n * TX_STRIDE;
    const firstOutput = txs[row + TX_FIRST_OUTPUT]!;
    const outs = txs[row + TX_OUTPUT_COUNT]!;
    let outSat = 0n;
    for (let output = firstOutput; output < firstOutput + outs; output++) {
      outSat += outputAmountAt(raw, parsed, output);
      coinBytes += coinSizeBytes(outputs[output * OUTPUT_STRIDE + OUTPUT_SCRIPT_LENGTH]!);
    }
    outputCount += outs;
    if ((txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) continue;
    let inSat = 0n;
    for (const end = inputCount + txs[row + TX_INPUT_COUNT]!; inputCount < end; inputCount++) {
      const coin = spent[inputCount];
      if (coin === undefined) throw rpcError(RPC_ERROR.INTERNAL_ERROR, 'Undo data does not fit the block');
      inSat += coin.amount;
      coinBytes -= coinSizeBytes(coin.script.length);
    }
    totalOutSat += outSat;
    const feeSat = inSat - outSat;
    const weight = txWeight(parsed, n);
    const sizeBytes = txSizeBytes(parsed, n);
    figures.push({ feeSat, feeRate: (feeSat * SCALE) / BigInt(weight), sizeBytes, weight });
    if ((txs[row + TX_FLAGS]! & TX_HAS_WITNESS) !== 0) {
      witness.txs++;
      witness.sizeBytes += sizeBytes;
      witness.weight += weight;
    }
  }
  const fees = figures.map((tx) => tx.feeSat).sort(ascending);
  const rates = figures.map((tx) => tx.feeRate).sort(ascending);
  const sizes = figures.map((tx) => tx.sizeBytes).sort((a, b) => a - b);
  const totalFeeSat = fees.reduce((total, fee) => total + fee, 0n);
  const totalWeight = sum(figures.map((tx) => tx.weight));
  const totalSize = sum(sizes);
  return {
    avgfee: figures.length > 0 ? totalFeeSat / BigInt(figures.length) : 0,
    avgfeerate: totalWeight > 0 ? (totalFeeSat * SCALE) / BigInt(totalWeight) : 0,
    avgtxsize: figures.length > 0 ? Math.trunc(totalSize / figures.length) : 0,
    feerate_percentiles: feeRatePercentiles(figures, totalWeight),
    ins: inputCount,
    maxfee: fees.at(-1) ?? 0,
    maxfeerate: rates.at(-1) ?? 0,
    maxtxsize: sizes.at(-1) ?? 0,
    medianfee: truncatedMedian(fees),
    mediantxsize: truncatedMedian(sizes.map(BigInt)),
    minfee: fees[0] === undefined || fees[0] === MAX_MONEY ? 0 : fees[0],
    minfeerate: rates[0] ?? 0,
    mintxsize: Math.min(sizes[0] ?? 0, MAX_BLOCK_SERIALIZED_SIZE),
    outs: outputCount,
    swtotal_size: witness.sizeBytes,
    swtotal_weight: witness.weight,
    swtxs: witness.txs,
    total_out: totalOutSat,
    total_size: totalSize,
    total_weight: totalWeight,
    totalfee: totalFeeSat,
    txs: parsed.txCount,
    utxo_increase: outputCount - inputCount,
    utxo_size_inc: coinBytes,
  };
}

function blockOf(services: RpcServices, profile: Profile, wanted: JsonValue): number {
  const { chain, params } = services;
  const { active } = chain.chain.index;
  if (isJsonNumber(wanted)) {
    const height = getInt(wanted);
    if (height < 0) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Target block height ${height} is negative`);
    }
    const id = active.at(height);
    if (id !== NO_HEADER) return id;
    const message = `Target block height ${height} after current tip ${active.height}`;
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
  }
  const id = requireBlock(chain, parseLooseHash(wanted));
  if (!active.contains(id)) {
    const message = `Block is not in chain ${networkName(params, profile)}`;
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
  }
  return id;
}

/** Reads the names of the selected statistics, without duplicates. */
function* readNames(values: readonly JsonValue[]): Slices<Set<string>> {
  const names = new Set<string>();
  for (const value of values) {
    names.add(getString(value));
    yield;
  }
  return names;
}

/** Returns the selected statistics sorted by name, or all statistics if none is selected. */
function select(all: Record<string, JsonOut>, selected: ReadonlySet<string>): JsonOut {
  if (selected.size === 0) return all;
  const result: Record<string, JsonOut> = {};
  // The error contains the first unknown name in sorted order. A search for the minimum avoids sorting a million names.
  let unknown: string | undefined;
  for (const name of selected) {
    if (!Object.hasOwn(all, name) && (unknown === undefined || name < unknown)) unknown = name;
  }
  if (unknown !== undefined)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid selected statistic ${unknown}`);
  for (const name of [...selected].sort()) {
    result[name] = all[name]!;
  }
  return result;
}

export const getBlockStats = defineMethod({
  name: 'getblockstats',
  category: 'blockchain',
  explorer: 'console',
  follows: 'chain',
  summary:
    "Compute per block statistics for a given block. All amounts are in satoshis.\nIt won't work for some heights " +
    'with pruning.',
  params: [
    {
      name: 'hash_or_height',
      // The type is not `hashOrHeight`, because the reference parses this hash leniently.
      type: 'any',
      cli: 'auto',
      required: true,
      description: 'The block hash or height of the target block',
    },
    { name: 'stats', type: 'array', defaultText: 'all values', description: 'Values to compute' },
  ],
  // The reference accepts two extra arguments and ignores them.
  maxArgs: 4,
  result: t.object(
    Object.fromEntries(
      Object.entries(FIELDS).map(([name, field]) => [
        name,
        field.kind === 'optional' ? field : t.optional(field, 'absent if other values were requested'),
      ]),
    ),
  ),
  examples: [['1000', '["minfeerate","avgfeerate"]']],
  async run({ services, profile }, args): Promise<JsonOut> {
    const { chain, params } = services;
    const id = blockOf(services, profile, args.hash_or_height);
    const selected = await inSlices(readNames(args.stats ?? []));
    const { active } = chain.chain.index;
    const height = chain.headers.height(id);
    const medianTimeSec = active.medianTimeOf(id);
    const block = await readBlockChecked(services, id);
    const needsInputs = selected.size === 0 || [...NEEDS_INPUTS].some((name) => selected.has(name));
    if (profile === 'lbrycrd' && services.txIndex === null && needsInputs && block.parsed.txCount > 1) {
      const message = 'One or more of the selected stats requires -txindex enabled';
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
    }
    return select(
      {
        ...blockFigures(block, await readUndoChecked(services, id)),
        blockhash: hashToHex(block.hash),
        height,
        mediantime: medianTimeSec,
        subsidy: blockSubsidy(height, params.subsidyLevelInterval),
        time: block.header.timeSec,
      },
      selected,
    );
  },
});
