/** Headers of the active chain as clients are told of them: single ones in two forms, and many as bytes a page at a time. */
import type { ChainReader } from '../chain/chainReader.js';
import { formatHeader, HEADER_SIZE_BYTES } from '../primitives/header.js';
import { hashToHex, toHex } from '../util/bytes.js';
import type { JsonOut } from '../util/jsonWrite.js';
import { whenSoon, type Soon } from '../util/soon.js';
import { HeaderTree } from './headerTree.js';
import type { Turn } from './turns.js';

/** Headers read without a pause. */
const PAGE_HEADERS = 256;

export class HeaderService {
  readonly tree: HeaderTree;
  private readonly reader: ChainReader;

  constructor(reader: ChainReader) {
    this.reader = reader;
    this.tree = new HeaderTree(reader);
  }

  /** Id of the tip. */
  get tip(): number {
    return this.reader.chain.tip;
  }

  get height(): number {
    return this.reader.chain.height;
  }

  heightOf(id: number): number {
    return this.reader.headers.height(id);
  }

  /** Id of the block of the active chain at a height, or of the branch that ends with `tip`. */
  at(height: number, tip = this.tip): number {
    return this.reader.chain.index.active.ancestorOf(tip, height);
  }

  /** A header as a subscriber hears of it. */
  told(id: number, form: 'raw' | 'decoded'): Soon<JsonOut> {
    if (form === 'decoded') return this.decoded(id);
    return whenSoon(this.bytes(id), (bytes) => ({
      hex: toHex(bytes),
      height: this.reader.headers.height(id),
    }));
  }

  /** The form of Electrum's servers, with the claim root. */
  decoded(id: number): Soon<JsonOut> {
    return whenSoon(this.reader.readHeader(id), (header) => ({
      version: header.version >>> 0,
      prev_block_hash: hashToHex(header.prevHash),
      merkle_root: hashToHex(header.merkleRoot),
      claim_trie_root: hashToHex(header.claimRoot),
      timestamp: header.timeSec,
      bits: header.bits,
      nonce: header.nonce,
      block_height: this.reader.headers.height(id),
    }));
  }

  private bytes(id: number): Soon<Buffer> {
    return whenSoon(this.reader.readHeader(id), formatHeader);
  }

  /** The headers at these heights, back to back, of the branch that ends with `tip`, whatever becomes of it meanwhile. */
  async *pages(tip: number, startHeight: number, count: number, turn: Turn): AsyncGenerator<Buffer> {
    for (let at = startHeight; at < startHeight + count; at += PAGE_HEADERS) {
      const page = Buffer.allocUnsafe(Math.min(PAGE_HEADERS, startHeight + count - at) * HEADER_SIZE_BYTES);
      for (let n = 0; n * HEADER_SIZE_BYTES < page.length; n++) {
        page.set(await this.bytes(this.at(at + n, tip)), n * HEADER_SIZE_BYTES);
      }
      yield page;
      const breath = turn.breathe();
      if (breath !== null) await breath;
    }
  }
}
