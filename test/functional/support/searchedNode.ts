/** A node with a hub and a search index of long texts, in a folder of its own. Tests can corrupt the file of the index. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { encodeClaim } from '../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../src/metadata/messages/claim_pb.js';
import { formatTransaction } from '../../../src/primitives/transaction.js';
import { buildClaimPrefix } from '../../../src/script/claimScript.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { hashFromHex, toHex } from '../../../src/util/bytes.js';
import { OPEN, OPEN_ADDRESS } from './network.js';
import { ADDRESS, freePort, startRegtest, type RegtestNode } from './node.js';

/** Much longer than a normal search takes, and much shorter than the expensive one would take. */
const SEARCH_MS = 3000;
/** Maximum number that fits in a transaction that is relayed. */
const CLAIMS_OF_TRANSACTION = 11;
const DESCRIPTION_CHARS = 7900;
const COIN_SAT = 100_000_000n;
const CLAIM_SAT = 10_000n;

function streamOf(title: string, description: string): Buffer {
  const claim = create(ClaimSchema, {
    title,
    description,
    tags: [title.slice(-1)],
    type: { case: 'stream', value: {} },
  });
  return encodeClaim({ channelId: null, signature: null, claim });
}

/** A transaction that spends a coinbase for claims. */
function claimsOf(coinbase: string, values: readonly (readonly [name: string, value: Buffer])[]): string {
  const open = scriptForDestination(OPEN);
  const outputs = values.map(([name, value], n) => ({
    value: CLAIM_SAT * BigInt(n + 1),
    script: Buffer.concat([buildClaimPrefix(Buffer.from(name), value), open]),
  }));
  const spentSat = outputs.reduce((sum, { value }) => sum + value, 2_000_000n);
  const prevout = { hash: hashFromHex(coinbase), index: 0 };
  return toHex(
    formatTransaction({
      version: 2,
      inputs: [{ prevout, scriptSig: Buffer.of(1, 0x51), sequence: 0xffffffff, witness: [] }],
      outputs: [...outputs, { value: COIN_SAT - spentSat, script: open }],
      lockTime: 0,
    }),
  );
}

/** Words of three letters that all differ in two letters. */
export const WORDS = [...'abcdefgh'].flatMap((second) =>
  [...'abcdefgh'].map((third) => `q${second}${third}`),
);

export const SEARCHES = [
  { text: 'title', order_by: ['height', 'name'], limit: 50 },
  { any_tags: ['3'], order_by: 'amount', limit: 50 },
  { order_by: 'trending_mixed', limit: 50 },
  { name: 'words' },
];

interface Page {
  readonly height: number;
  readonly claims: readonly { readonly claim_id: string }[];
}

export class SearchedNode {
  private readonly folder = mkdtempSync(join(tmpdir(), 'lbcnode-searchfaults-'));
  /** The file of the search index. */
  readonly file = join(this.folder, 'regtest', 'claimsearch.sqlite');
  node!: RegtestNode;
  port = 0;

  async start(): Promise<void> {
    this.port = await freePort();
    const args = ['-hub', `-hubport=${this.port}`, '-hubudpport=0', `-claimsearchtimeout=${SEARCH_MS}`];
    this.node = await startRegtest({ dataDir: this.folder, args });
  }

  /** Starts it for the first time and makes the claims: this number of transactions with long texts. */
  async fill(transactions: number): Promise<void> {
    await this.start();
    const { node } = this;
    const hashes = await node.rpc<string[]>('generatetoaddress', [transactions + 1, OPEN_ADDRESS]);
    await node.rpc('generatetoaddress', [100, ADDRESS]);
    const coins: string[] = [];
    for (const hash of hashes) coins.push((await node.rpc<{ tx: string[] }>('getblock', [hash])).tx[0]!);
    const send = (values: Parameters<typeof claimsOf>[1]) =>
      node.rpc('sendrawtransaction', [claimsOf(coins.pop()!, values), true]);
    await send([['words', streamOf('all words', WORDS.join(' '))]]);
    for (let tx = 0; tx < transactions; tx++) {
      await send(
        Array.from({ length: CLAIMS_OF_TRANSACTION }, (_, n) => [
          `claim-${tx}-${n}`,
          streamOf(`Title ${n} of ${tx}`, 'x '.repeat(DESCRIPTION_CHARS / 2)),
        ]),
      );
    }
    const waiting = async () => (await node.rpc<{ size: number }>('getmempoolinfo')).size;
    while ((await waiting()) > 0) await node.rpc('generatetoaddress', [1, ADDRESS]);
  }

  /** Results of a search when the index is at the tip. */
  async found(): Promise<string[][]> {
    const { node } = this;
    const height = await node.rpc<number>('getblockcount');
    const pages: string[][] = [];
    while (pages.length < SEARCHES.length) {
      try {
        const page = await node.rpc<Page>('searchclaims', [SEARCHES[pages.length]]);
        if (page.height === height) pages.push(page.claims.map(({ claim_id }) => claim_id));
      } catch (error) {
        if (!/being (re)?built|cannot be built/.test((error as Error).message)) throw error;
      }
    }
    return pages;
  }

  /** Stops the node and deletes its folder. */
  async remove(): Promise<void> {
    await this.node.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
