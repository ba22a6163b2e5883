/**
 * The outputs of a block that create and update claims, with the data that the index needs: their positions, their decoded
 * values, and the first outputs of claims that were created and updated in the same block.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
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
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { outputScriptAt, prevoutAt, txidAt } from '../../primitives/blockView.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { type Bytes } from '../../util/bytes.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';

/** Position of an output in its block. */
export interface BlockPlace {
  readonly position: number;
  readonly nout: number;
}

/** A claim output in a block, with its decoded value. */
export interface ClaimOutputInBlock extends BlockPlace {
  readonly value: Bytes;
  readonly facts: ClaimFacts;
  /** Public key of a channel; null if the claim is not a channel or has no valid key. */
  readonly publicKey: Bytes | null;
  readonly script: Bytes;
  /** Outpoint (36 bytes) that the first input of the transaction spends. Signatures cover it. */
  readonly firstInput: Bytes;
}

export class ClaimOutputs {
  /** The requested outputs by outpoint (36 bytes as a latin1 string). */
  readonly byPoint = new Map<string, ClaimOutputInBlock>();
  private readonly block: LoadedBlock;
  private readonly points: ReadonlyMap<string, string>;
  private readonly originals = new Map<string, BlockPlace>();

  private constructor(block: LoadedBlock, points: ReadonlyMap<string, string>) {
    this.block = block;
    this.points = points;
  }

  /** Reads the outputs at `points`, a map from outpoints to claim ids. Values of other outputs are not decoded. */
  static read(block: LoadedBlock, points: ReadonlyMap<string, string>): MaybePromise<ClaimOutputs> {
    const outputs = new ClaimOutputs(block, points);
    return whenResolved(
      outputs.forEachTransaction((position) => outputs.readRequested(position)),
      () => outputs,
    );
  }

  /**
   * Collects the first outputs for `originOf`. All claim outputs of the block are read, so this is done only for the few
   * blocks that need it.
   */
  readOrigins(): MaybePromise<void> {
    return this.forEachTransaction((position) => this.readOriginsOf(position));
  }

  /** Output of the block that created this claim; null if the block did not create it. */
  originOf(claimId: string): BlockPlace | null {
    return this.originals.get(claimId) ?? null;
  }

  /** Calls `visit` for each transaction that contains claim outputs, from the position `from` on. */
  private forEachTransaction(visit: (position: number) => void, from = 0): MaybePromise<void> {
    const { txs, txCount } = this.block.parsed;
    const since = performance.now();
    for (let tx = from; tx < txCount; tx++) {
      const row = tx * TX_STRIDE;
      if (txs[row + TX_CLAIM_OUTPUTS] === 0 || (txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) continue;
      visit(tx);
      const slice = yieldIfDue(since);
      if (typeof slice !== 'number') return slice.then(() => this.forEachTransaction(visit, tx + 1));
    }
  }

  /** Indexes of the outputs of a transaction that create or update claims. */
  private claimsOf(position: number): number[] {
    const { txs, outputs } = this.block.parsed;
    const row = position * TX_STRIDE;
    const first = txs[row + TX_FIRST_OUTPUT]!;
    const claims: number[] = [];
    for (let nout = 0; nout < txs[row + TX_OUTPUT_COUNT]!; nout++) {
      const opcode = outputs[(first + nout) * OUTPUT_STRIDE + OUTPUT_CLAIM_KIND];
      if (opcode === OP.OP_CLAIM_NAME || opcode === OP.OP_UPDATE_CLAIM) claims.push(nout);
    }
    return claims;
  }

  private scriptAt(position: number, nout: number): Bytes {
    const { raw, parsed } = this.block;
    return outputScriptAt(raw, parsed, parsed.txs[position * TX_STRIDE + TX_FIRST_OUTPUT]! + nout);
  }

  private readRequested(position: number): void {
    const { raw, parsed } = this.block;
    const txid = txidAt(parsed, position);
    const firstInput = parsed.txs[position * TX_STRIDE + TX_FIRST_INPUT]!;
    for (const nout of this.claimsOf(position)) {
      const point = pointKey(txid, nout);
      if (!this.points.has(point)) continue;
      const script = this.scriptAt(position, nout);
      const value = decodeClaimScript(script)?.value;
      if (value === undefined) continue;
      const facts = readClaimFacts(value);
      const publicKey = facts.publicKey && channelPublicKey(facts.publicKey);
      const spends = prevoutAt(raw, parsed, firstInput);
      this.byPoint.set(point, { position, nout, value, facts, publicKey, script, firstInput: spends });
    }
  }

  private readOriginsOf(position: number): void {
    const txid = txidAt(this.block.parsed, position);
    for (const nout of this.claimsOf(position)) {
      const claim = decodeClaimScript(this.scriptAt(position, nout));
      if (claim?.kind !== 'claim' || claim.value === undefined) continue;
      const point = pointKey(txid, nout);
      this.originals.set(this.points.get(point) ?? claimIdAtPoint(point), { position, nout });
    }
  }
}
