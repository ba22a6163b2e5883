/** The message about one transaction, unconfirmed or in a block, and the output scripts that the transaction pays or spends. */
import { hash160, sha256 } from '../../crypto/hash.js';
import { hasPublicKeySize } from '../../crypto/ecdsaEncoding.js';
import type { MempoolEntry } from '../../mempool/mempoolReader.js';
import type { RemovalReason } from '../../mempool/txPool.js';
import { withoutWitness } from '../../net/rawTransaction.js';
import {
  INPUT_SCRIPT_LENGTH,
  INPUT_STRIDE,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_HAS_WITNESS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import {
  inputScriptAt,
  outputScriptAt,
  parseTxView,
  txBytes,
  txidAt,
  txSizeBytes,
  txWeight,
  witnessTopAt,
  wtxidAt,
  type ParsedBlock,
} from '../../primitives/blockView.js';
import { stripClaimPrefix } from '../../script/claimScript.js';
import { lastPush } from '../../script/script.js';
import { extractDestination, scriptForDestination, type Destination } from '../../script/standard.js';
import { hashToHex, toHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { type JsonOut } from '../../util/json/jsonWrite.js';
import type { BlockNotice } from './blockNotice.js';

const VIRTUAL_SCALE = 4;

/** Serialized transaction number `tx` of a block. `withWitness` is false with `-rpcserialversion=0`. */
export function serializedTx({ raw, parsed }: BlockNotice, tx: number, withWitness: boolean): Buffer {
  const bytes = txBytes(raw, parsed, tx);
  const hasWitness = (parsed.txs[tx * TX_STRIDE + TX_FLAGS]! & TX_HAS_WITNESS) !== 0;
  // The bytes are copied, so that a queued message does not keep the whole block in memory.
  return hasWitness && withWitness ? Buffer.from(bytes) : Buffer.from(withoutWitness(bytes));
}

export class TransactionNotice {
  private readonly raw: Buffer;
  private readonly fields: Readonly<Record<string, JsonOut | undefined>>;
  /** Returns parsed bytes that contain the transaction, and the transaction's position in them. */
  private readonly parse: () => { bytes: Buffer; parsed: ParsedBlock; tx: number };
  private made: { json?: string; jsonWithHex?: string; scripts?: ReadonlySet<string> } = {};

  private constructor(raw: Buffer, fields: TransactionNotice['fields'], parse: TransactionNotice['parse']) {
    this.raw = raw;
    this.fields = fields;
    this.parse = parse;
  }

  /** Creates the notice of a transaction that entered the mempool or, with `reason`, left it. */
  static unconfirmed(entry: MempoolEntry, bytes: Buffer, reason?: RemovalReason): TransactionNotice {
    const fields = {
      event: reason === undefined ? 'added' : 'removed',
      reason,
      txid: hashToHex(entry.txid),
      hash: hashToHex(entry.wtxid),
      size: bytes.length,
      vsize: Math.ceil(entry.weight / VIRTUAL_SCALE),
      weight: entry.weight,
      fee: coins(entry.feeSat),
    };
    return new TransactionNotice(bytes, fields, () => ({ bytes, parsed: parseTxView(bytes), tx: 0 }));
  }

  /** Notice of transaction number `tx` of a block that was connected or disconnected. */
  static ofBlock(block: BlockNotice, tx: number): TransactionNotice {
    const { parsed, raw } = block;
    const weight = txWeight(parsed, tx);
    const fields = {
      event: block.event,
      txid: hashToHex(txidAt(parsed, tx)),
      hash: hashToHex(wtxidAt(parsed, tx)),
      size: txSizeBytes(parsed, tx),
      vsize: Math.ceil(weight / VIRTUAL_SCALE),
      weight,
      blockhash: hashToHex(block.hash),
      height: block.height,
      index: tx,
    };
    return new TransactionNotice(txBytes(raw, parsed, tx), fields, () => ({ bytes: raw, parsed, tx }));
  }

  get sizeBytes(): number {
    return this.raw.length;
  }

  get json(): string {
    return (this.made.json ??= stringifyJson(this.fields));
  }

  /** The message with the serialized transaction in hex. */
  get jsonWithHex(): string {
    return (this.made.jsonWithHex ??= stringifyJson({ ...this.fields, hex: toHex(this.raw) }));
  }

  /**
   * The output scripts that the transaction pays or spends, as latin1: the scripts of its outputs, with and without a claim
   * prefix, and the scripts that its inputs reveal. An input that spends a bare public key or bare multisig does not reveal
   * the script.
   */
  get scripts(): ReadonlySet<string> {
    return (this.made.scripts ??= this.findScripts());
  }

  private findScripts(): Set<string> {
    const { bytes, parsed, tx } = this.parse();
    const found = new Set<string>();
    const row = tx * TX_STRIDE;
    const firstOutput = parsed.txs[row + TX_FIRST_OUTPUT]!;
    for (let n = 0; n < parsed.txs[row + TX_OUTPUT_COUNT]!; n++) {
      const script = outputScriptAt(bytes, parsed, firstOutput + n);
      found.add(toLatin1(script)).add(toLatin1(stripClaimPrefix(script)));
      const destination = extractDestination(script);
      if (destination) found.add(keyOf(destination));
    }
    if ((parsed.txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) return found;
    const first = parsed.txs[row + TX_FIRST_INPUT]!;
    for (let input = first; input < first + parsed.txs[row + TX_INPUT_COUNT]!; input++) {
      for (const destination of unlocked(bytes, parsed, input)) found.add(keyOf(destination));
    }
    return found;
  }
}

function keyOf(destination: Destination): string {
  return toLatin1(scriptForDestination(destination));
}

/** Destinations of the output scripts that an input may unlock, derived from the input's script and witness. */
function unlocked(bytes: Buffer, parsed: ParsedBlock, input: number): Destination[] {
  if (parsed.inputs[input * INPUT_STRIDE + INPUT_SCRIPT_LENGTH] === 0) {
    const last = witnessTopAt(bytes, parsed, input, 1)[0];
    if (last === undefined) return [];
    const asScript: Destination = { type: 'witness_v0_scripthash', hash: sha256(last) };
    return hasPublicKeySize(last)
      ? [asScript, { type: 'witness_v0_keyhash', hash: hash160(last) }]
      : [asScript];
  }
  const last: Bytes | null = lastPush(inputScriptAt(bytes, parsed, input));
  if (last === null) return [];
  const hash = hash160(last);
  const asScript: Destination = { type: 'scripthash', hash };
  return hasPublicKeySize(last) ? [asScript, { type: 'pubkeyhash', hash }] : [asScript];
}
