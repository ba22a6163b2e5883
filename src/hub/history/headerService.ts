/** Headers of the active chain: single headers in the format for subscribers, and ranges of headers as bytes in pages. */
import type { ChainReader } from '../../chain/chainReader.js';
import { formatHeader, HEADER_SIZE_BYTES } from '../../primitives/header.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { HeaderMerkleTree } from './headerTree.js';
import { decodedHeader } from '../protocol/shownHeader.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** Number of headers that are read between two yields to the event loop. */
const PAGE_HEADERS = 256;

export class HeaderService {
  readonly tree: HeaderMerkleTree;
  private readonly reader: ChainReader;

  constructor(reader: ChainReader) {
    this.reader = reader;
    this.tree = new HeaderMerkleTree(reader);
  }

  /** Header id of the tip in the header table of the node. */
  get tip(): number {
    return this.reader.chain.tip;
  }

  get height(): number {
    return this.reader.chain.height;
  }

  /** Header id of the block at a height, on the active chain or on the branch that ends with header id `tip`. */
  at(height: number, tip = this.tip): number {
    return this.reader.chain.index.active.ancestorOf(tip, height);
  }

  /** A header in the format of Electrum servers. */
  decoded(id: number): MaybePromise<JsonOut> {
    return whenResolved(this.reader.readHeader(id), (header) =>
      decodedHeader(header, this.reader.headers.height(id)),
    );
  }

  /** Header of a block in wire format. */
  bytes(id: number): MaybePromise<Buffer> {
    return whenResolved(this.reader.readHeader(id), formatHeader);
  }

  /**
   * Yields the headers of a range of heights on the branch that ends with `tip`, even if the branch is disconnected during
   * the iteration. Each page is a separate buffer with concatenated headers.
   */
  async *pages(
    tip: number,
    startHeight: number,
    count: number,
    turn: Turn,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let at = startHeight; at < startHeight + count; at += PAGE_HEADERS) {
      const page = new Uint8Array(Math.min(PAGE_HEADERS, startHeight + count - at) * HEADER_SIZE_BYTES);
      for (let n = 0; n * HEADER_SIZE_BYTES < page.length; n++) {
        page.set(await this.bytes(this.at(at + n, tip)), n * HEADER_SIZE_BYTES);
      }
      yield page;
      const pause = turn.yieldIfDue();
      if (pause !== null) await pause;
    }
  }
}
