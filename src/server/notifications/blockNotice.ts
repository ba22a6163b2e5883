/** A block that was connected or disconnected, with what is reported about it; each part is made once, when it is asked for. */
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import type { ParsedBlock } from '../../primitives/blockView.js';
import type { ClaimMetadata } from '../../rpc/format/claimMetadata.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { stringifyJson } from '../../util/json/jsonWrite.js';
import { claimNotices, type ClaimNotice } from './claimNotice.js';

const PREVIOUS_AT = 4;
const TIME_AT = 100;

export class BlockNotice {
  readonly id: number;
  readonly height: number;
  /** Wire order. */
  readonly hash: Bytes;
  readonly raw: Buffer;
  readonly parsed: ParsedBlock;
  /** Else it was disconnected. */
  readonly isConnected: boolean;
  private readonly block: ConnectedBlock;
  private readonly metadata: ClaimMetadata | null;
  private made: { claims?: readonly ClaimNotice[]; json?: string } = {};

  /** `metadata` shows what claims say, where that is told. */
  constructor(block: ConnectedBlock, isConnected: boolean, metadata: ClaimMetadata | null = null) {
    this.block = block;
    this.metadata = metadata;
    this.id = block.id;
    this.height = block.height;
    this.hash = block.hash;
    this.raw = block.raw;
    this.parsed = block.parsed;
    this.isConnected = isConnected;
  }

  get event(): 'connected' | 'disconnected' {
    return this.isConnected ? 'connected' : 'disconnected';
  }

  /** What the block did to claims, in order; of a disconnected block in the reverse order. */
  get claims(): readonly ClaimNotice[] {
    const { block, metadata } = this;
    return (this.made.claims ??= claimNotices(block, this.isConnected, metadata && { block, metadata }));
  }

  /** The numbers of its transactions in the order of telling, which is that of the block in both cases. */
  *transactions(): Generator<number> {
    for (let tx = 0; tx < this.parsed.txCount; tx++) yield tx;
  }

  /** The message about the block itself. */
  get json(): string {
    return (this.made.json ??= stringifyJson({
      event: this.event,
      hash: hashToHex(this.hash),
      height: this.height,
      previousblockhash: hashToHex(this.raw.subarray(PREVIOUS_AT, PREVIOUS_AT + 32)),
      time: this.raw.readUInt32LE(TIME_AT),
      size: this.raw.length,
      nTx: this.parsed.txCount,
    }));
  }
}
