/**
 * Scanning blocks for a client: `rescan` scans all blocks from a start block on, `rescanblocks` scans the listed blocks.
 * Reads one block at a time, and waits while the client reads slowly. Source: lbcd rpcwebsocket.go `handleRescan`,
 * `rescanBlock`, `handleRescanBlocks`.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import { readBlockOrNull } from '../../rpc/lookup/blockLookup.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../rpc/declare/errors.js';
import type { RpcServices } from '../../interfaces/services.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, hashToHex, type Bytes } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { relevantTransaction, rescanFinished, rescanProgress, type NotedBlock } from './notices.js';
import { hashOf, notHex } from './parameters.js';
import { tellManySpenders } from './spenders.js';
import { outPointKey, WatchedTransaction } from './watchedTransaction.js';
import { publicKeyKey } from './watchKeys.js';
import type { Watches } from './watches.js';

/** Milliseconds between progress notifications during a rescan. Source: `scanBlockChunks`. */
const PROGRESS_MS = 10_000;

/** The client that requested a rescan. */
export interface RescanClient {
  readonly isGone: boolean;
  readonly watches: Watches;
  notify(text: string): void;
  /** Resolves when the client has read most of the sent data. */
  drained(): Promise<void>;
}

export interface RescanRequest {
  readonly begin: string;
  readonly end: string | undefined;
  /** `addresses`: watch keys of the addresses (`addressKey`). `unspent`: watch keys of the outputs. */
  readonly addresses: ReadonlySet<string>;
  readonly unspent: Set<string>;
}

type Services = Pick<RpcServices, 'chain' | 'pruner' | 'log'> & RpcServices;

const reorganized = (): RpcError => rpcError(RPC_ERROR.DATABASE_ERROR, 'Reorganize');

function notFound(what: string, hash: Bytes): RpcError {
  return rpcError(
    RPC_ERROR.INVALID_ADDRESS_OR_KEY,
    `${what}: block ${hashToHex(hash)} is not in the main chain`,
  );
}

/** Height of the block of the active chain with this hash. */
function heightOf({ chain }: ChainReader, text: string): number {
  const { hash } = hashOf(text);
  if (hash === null) throw notHex(text);
  const id = chain.index.headers.find(hash);
  if (id === NO_HEADER || !chain.index.active.contains(id)) throw notFound('Error getting block', hash);
  return chain.index.headers.height(id);
}

/** Scans the requested blocks. Afterwards the client watches the requested addresses and outputs. */
export async function rescan(
  services: Services,
  client: RescanClient,
  request: RescanRequest,
): Promise<void> {
  const begin = heightOf(services.chain, request.begin);
  // QUIRK: the end block is not scanned.
  const end = request.end === undefined ? Infinity : heightOf(services.chain, request.end);
  const isEmpty = request.addresses.size === 0 && request.unspent.size === 0;
  const last = isEmpty ? await tipOf(services) : await scan(services, client, request, begin, end);
  if (last === null) return;
  client.notify(rescanFinished(last));
  // The blocks have not spent these outputs. A mempool transaction may have spent them before the client watched them.
  if (end === Infinity) await tellManySpenders(client, [...request.unspent], services);
}

async function tipOf(services: Services): Promise<NotedBlock> {
  const { index } = services.chain.chain;
  return readBlock(services, index.active.tip);
}

async function readBlock(services: Services, id: number): Promise<NotedBlock & BlockParts> {
  const { headers } = services.chain;
  const block = await readBlockOrNull(services, id);
  if (block === null) {
    throw rpcError(
      RPC_ERROR.DATABASE_ERROR,
      `Database error: block ${hashToHex(headers.hash(id))} is not on the disk`,
    );
  }
  return { hash: headers.hash(id), height: headers.height(id), raw: block.raw, parsed: block.parsed };
}

interface BlockParts {
  readonly parsed: Parameters<typeof WatchedTransaction.ofBlock>[0]['parsed'];
}

/** Scans the blocks `begin` to `end` (excluded). Returns the last scanned block, or null. */
async function scan(
  services: Services,
  client: RescanClient,
  request: RescanRequest,
  begin: number,
  end: number,
): Promise<NotedBlock | null> {
  const { active } = services.chain.chain.index;
  let last: NotedBlock | null = null;
  let progressMs = performance.now();
  let since = progressMs;
  for (let height = begin; height < end; height++) {
    if (height > active.height) {
      if (last !== null && !isTip(services, last)) throw reorganized();
      // This code runs in the same event loop turn as the read of the tip, so no block can be connected before the client
      // watches new blocks.
      if (end === Infinity) watchFromHere(client, request);
      break;
    }
    const block = await readBlock(services, active.at(height));
    if (client.isGone) return null;
    if (last !== null && !equalBytes(block.raw.subarray(4, 36), last.hash)) throw reorganized();
    scanBlock(client, request, block);
    last = block;
    await client.drained();
    since = await yieldIfDue(since);
    if (performance.now() - progressMs >= PROGRESS_MS) {
      progressMs = performance.now();
      client.notify(rescanProgress(block));
    }
  }
  return last;
}

function isTip({ chain }: Services, { hash }: NotedBlock): boolean {
  const { active, headers } = chain.chain.index;
  return equalBytes(headers.hash(active.tip), hash);
}

function watchFromHere({ watches }: RescanClient, { addresses, unspent }: RescanRequest): void {
  watches.addOutputs(unspent);
  watches.addAddresses(addresses);
}

/** Scans a block for the items that the client watches. The client gets at most one notification of each type per transaction. */
function scanBlock(
  client: RescanClient,
  { addresses, unspent }: RescanRequest,
  block: NotedBlock & BlockParts,
): void {
  for (const transaction of WatchedTransaction.ofBlock(block)) {
    const { hex, index } = { hex: () => transaction.hex, index: transaction.index };
    let isSpent = false;
    for (const key of transaction.spent) if (unspent.delete(key)) isSpent = true;
    isSpent ||=
      addresses.size > 0 && transaction.unlocked().some((key) => key !== null && addresses.has(key));
    if (isSpent) client.notify(relevantTransaction('redeemingtx', hex(), { block, index }));
    let isReceived = false;
    if (addresses.size === 0) continue;
    transaction.payees.forEach(({ hashes, publicKeys }, n) => {
      // QUIRK: an output to a bare public key matches only a watched public key, not the watched P2PKH address of that
      // key.
      const isWanted =
        hashes.some((key) => addresses.has(key)) ||
        publicKeys.some((key) => addresses.has(publicKeyKey(key)));
      if (!isWanted) return;
      unspent.add(outPointKey(transaction.txid, n));
      isReceived = true;
    });
    if (isReceived) client.notify(relevantTransaction('recvtx', hex(), { block, index }));
  }
}

/** Finds the listed blocks with transactions that match the client's filter. Returns these blocks and transactions. */
export async function rescanBlocks(
  services: Services,
  client: RescanClient,
  hashes: readonly string[],
): Promise<JsonOut> {
  if (!client.watches.hasFilter) {
    throw rpcError(RPC_ERROR.MISC_ERROR, 'Transaction filter must be loaded before rescanning');
  }
  const wanted = hashes.map((text) => {
    const read = hashOf(text);
    // QUIRK: lbcd reports an invalid hash as an internal error.
    if (read.hash === null) throw rpcError(RPC_ERROR.INTERNAL_ERROR, read.problem);
    return read.hash;
  });
  const found: JsonOut[] = [];
  const { headers, active } = services.chain.chain.index;
  let last: Buffer | null = null;
  let since = performance.now();
  for (const [i, hash] of wanted.entries()) {
    const id = headers.find(hash);
    if (id === NO_HEADER || !active.contains(id)) throw notFound('Failed to fetch block', hash);
    const block = await readBlock(services, id);
    if (client.isGone) break;
    if (last !== null && !equalBytes(block.raw.subarray(4, 36), last)) {
      throw rpcError(
        RPC_ERROR.INVALID_PARAMETER,
        `Block ${hashToHex(hash)} is not a child of ${hashToHex(last)}`,
      );
    }
    last = hash;
    const transactions: string[] = [];
    for (const transaction of WatchedTransaction.ofBlock(block))
      if (client.watches.filters(transaction)) transactions.push(transaction.hex);
    if (transactions.length > 0) found.push({ hash: hashes[i]!, transactions });
    since = await yieldIfDue(since);
  }
  return found;
}
