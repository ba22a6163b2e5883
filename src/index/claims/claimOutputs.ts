/**
 * The outputs of a block that make and update claims, as far as the index asks for them: where they stand, what their
 * values say, and the keys of channels that the block itself made. Pure.
 */
import type { LoadedBlock } from '../../chain/loadedBlock.js';
import { claimIdAtPoint, pointKey } from '../../claimtrie/item.js';
import { channelPublicKey } from '../../metadata/channelSignature.js';
import { readClaimFacts, type ClaimFacts } from '../../metadata/claimFacts.js';
import {
  OUTPUT_CLAIM_KIND,
  OUTPUT_STRIDE,
  TX_CLAIM_OUTPUTS,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { outputScriptAt, prevoutAt, txidAt } from '../../primitives/blockView.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { breathe } from '../../util/breathe.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

/** Where an output stands in its block. */
export interface BlockPlace {
  readonly position: number;
  readonly nout: number;
}

/** An output that the claim trie took in. */
export interface ClaimOutputInBlock extends BlockPlace {
  readonly value: Bytes;
  readonly facts: ClaimFacts;
  /** Of a channel, if there is one that can verify. */
  readonly publicKey: Bytes | null;
  readonly script: Bytes;
  /** 36 bytes: what the transaction's first input spends. */
  readonly firstInput: Bytes;
}

/** A channel within its block: its keys, in the order of the outputs that had them. */
interface NewChannel {
  /** The latest output. */
  point: string;
  readonly keys: (BlockPlace & { readonly publicKey: Bytes | null })[];
}

export class ClaimOutputs {
  /** The asked-for outputs by their points. */
  readonly byPoint = new Map<string, ClaimOutputInBlock>();
  private readonly originals = new Map<string, BlockPlace>();
  private readonly channels = new Map<string, NewChannel>();

  /**
   * Reads those at `points`, by which their claims' ids are given; `withOriginals` when claims are asked for that the block
   * both made and updated.
   */
  static async read(
    block: LoadedBlock,
    points: ReadonlyMap<string, string>,
    withOriginals: boolean,
  ): Promise<ClaimOutputs> {
    const outputs = new ClaimOutputs();
    const { txs, txCount } = block.parsed;
    let since = performance.now();
    for (let tx = 0; tx < txCount; tx++) {
      const row = tx * TX_STRIDE;
      if (txs[row + TX_CLAIM_OUTPUTS] === 0 || (txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) continue;
      outputs.readTransaction(block, tx, points, withOriginals);
      since = await breathe(since);
    }
    return outputs;
  }

  /** Where the block made this claim, or null. Only known with `withOriginals`. */
  originOf(claimId: string): BlockPlace | null {
    return this.originals.get(claimId) ?? null;
  }

  /**
   * The key that a channel made by this block had at a place in it, its own output included; null for none. One that is no
   * channel any more keeps it within the block, as in the hub.
   */
  keyOfNewChannel(channelId: string, at: BlockPlace): Bytes | null {
    let found: Bytes | null = null;
    for (const { position, nout, publicKey } of this.channels.get(channelId)?.keys ?? [])
      if (position < at.position || (position === at.position && nout <= at.nout)) found = publicKey;
    return found;
  }

  private readTransaction(
    { raw, parsed }: LoadedBlock,
    position: number,
    points: ReadonlyMap<string, string>,
    withOriginals: boolean,
  ): void {
    const row = position * TX_STRIDE;
    const first = parsed.txs[row + TX_FIRST_OUTPUT]!;
    const firstInput = parsed.txs[row + TX_FIRST_INPUT]!;
    const txid = txidAt(parsed, position);
    for (let nout = 0; nout < parsed.txs[row + TX_OUTPUT_COUNT]!; nout++) {
      if (parsed.outputs[(first + nout) * OUTPUT_STRIDE + OUTPUT_CLAIM_KIND] === 0) continue;
      const script = outputScriptAt(raw, parsed, first + nout);
      const claim = decodeClaimScript(script);
      if (claim === null || claim.kind === 'support' || claim.value === undefined) continue;
      const point = pointKey(txid, nout);
      const { value } = claim;
      const facts = readClaimFacts(value);
      const publicKey = facts.publicKey && channelPublicKey(facts.publicKey);
      const place = { position, nout };
      const knownId = points.get(point);
      if (knownId !== undefined) {
        const spends = prevoutAt(raw, parsed, firstInput);
        this.byPoint.set(point, { ...place, value, facts, publicKey, script, firstInput: spends });
      }
      if (claim.kind === 'claim') {
        const claimId = knownId ?? claimIdAtPoint(point);
        if (withOriginals) this.originals.set(claimId, place);
        // One that is no channel yet may be made one within the block.
        this.channels.set(claimId, {
          point,
          keys: facts.kind === 'channel' ? [{ ...place, publicKey }] : [],
        });
        continue;
      }
      const channel = this.channels.get(toLatin1(claim.claimId!));
      if (channel === undefined) continue;
      const last = firstInput + parsed.txs[row + TX_INPUT_COUNT]!;
      for (let input = firstInput; input < last; input++) {
        const prevout = prevoutAt(raw, parsed, input);
        if (pointKey(prevout.subarray(0, 32), prevout.readUInt32LE(32)) !== channel.point) continue;
        channel.point = point;
        if (facts.kind === 'channel') channel.keys.push({ ...place, publicKey });
        break;
      }
    }
  }
}
