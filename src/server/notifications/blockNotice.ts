/** A connected or disconnected block with its notification data. Each value is created once, when it is first needed. */
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import type { ParsedBlock } from '../../primitives/blockView.js';
import type { ShownMetadata } from '../../rpc/format/claimMetadata.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
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
  /** Whether the block was connected; otherwise it was disconnected. */
  readonly isConnected: boolean;
  private readonly block: ConnectedBlock;
  private readonly metadata: ShownMetadata | null;
  private made: { claims?: readonly ClaimNotice[]; json?: string } = {};

  /** `metadata` decodes the content of claims, if notifications include it. */
  constructor(block: ConnectedBlock, isConnected: boolean, metadata: ShownMetadata | null = null) {
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

  /** Claim events of the block in order. For a disconnected block the order is reversed. */
  get claims(): readonly ClaimNotice[] {
    const { block, metadata } = this;
    return (this.made.claims ??= claimNotices(block, this.isConnected, metadata && { block, metadata }));
  }

  /**
   * Positions of the block's transactions in the order of notification. This is the order in the block, also for a
   * disconnected block.
   */
  *transactions(): Generator<number> {
    for (let tx = 0; tx < this.parsed.txCount; tx++) yield tx;
  }

  /** Notification message of the block itself, without its transactions and claims. */
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
