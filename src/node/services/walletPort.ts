/**
 * Interface of the node for wallets: implements `wallet/port.ts` with the chain, the mempool and the services. Rules of the
 * wallet are in `wallet/`.
 */
import type { ChainEventMap } from '../../chain/chainEvents.js';
import type { ChainReader } from '../../chain/chainReader.js';
import { expirationTerm } from '../../claimtrie/rules.js';
import { scriptKeyOf } from '../../index/addressScripts.js';
import type { AcceptVerdict } from '../../mempool/acceptance.js';
import type { Mempool } from '../../mempool/mempool.js';
import { signalsReplacement } from '../../mempool/replacement.js';
import { txid as txidOf, type Transaction } from '../../primitives/transaction.js';
import { filedOutput } from '../../rpc/lookup/nameLookup.js';
import type { RpcServices } from '../../interfaces/services.js';
import { formatVerdict } from '../../consensus/reject.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { ClaimStanding, NodeListener, NodePort, PortCoin, WalletBlock } from '../../wallet/port.js';

export interface WalletPortDeps {
  readonly services: RpcServices;
  readonly reader: ChainReader;
  readonly mempool: Mempool;
  readonly log: Logger;
  readonly dustRatePerKb: bigint;
  readonly limits: { readonly ancestors: number; readonly descendants: number };
  readonly nowSec: () => number;
  readonly onFatal: (error: unknown) => void;
  readonly warn: (message: string) => void;
  readonly showStart: (status: string) => void;
}

/** Number of entries read from the address index in one step. */
const PAGE_ENTRIES = 10_000;

export function walletPort(deps: WalletPortDeps): NodePort {
  const { services, reader, mempool, log } = deps;
  return {
    params: services.params,
    chain: chainPort(deps),
    mempool: {
      has: (txid) => mempool.entry(txid) !== null,
      relatives(txid) {
        const entry = mempool.entry(txid);
        return entry === null ? null : { ancestors: entry.ancestorCount, descendants: entry.descendantCount };
      },
      ancestors: (txid) => mempool.ancestors(txid).map((entry) => entry.txid),
      transaction: (txid) => mempool.transaction(txid),
      *all() {
        for (const { key, bytes } of mempool.transactions())
          yield { txid: Buffer.from(key, 'latin1'), bytes };
      },
      limits: deps.limits,
      submit: (tx, maxFeeSat) => submit(deps, tx, maxFeeSat),
      async test(tx, maxFeeSat) {
        return refusal(await mempool.acceptToMempool(tx, { maxFeeSat, testOnly: true }));
      },
      announce: (txid) => announce(deps, txid),
      isReplaceable(txid) {
        const signals = (id: Bytes): boolean => {
          const tx = mempool.transaction(id);
          return tx !== null && signalsReplacement(tx);
        };
        return signals(txid) || mempool.ancestors(txid).some((entry) => signals(entry.txid));
      },
    },
    fees: {
      estimateSmart: (target, conservative) => mempool.fees.estimateSmartFee(target, conservative),
      get highestTarget() {
        return mempool.fees.highestTarget('long');
      },
      get mempoolMinRatePerKb() {
        return mempool.minFeeRatePerKb;
      },
      get relayMinRatePerKb() {
        return mempool.minRelayFeeRatePerKb;
      },
      incrementalRatePerKb: services.options.incrementalFeeRatePerKb,
      dustRatePerKb: deps.dustRatePerKb,
    },
    claims: {
      standing: (name, outPoint) => standing(services, name, outPoint),
      expirationHeight: (madeAt) => madeAt + expirationTerm(services.claims.rules, reader.chain.height + 1),
      async nameOf(claimId) {
        const [name] = await services.claims.aliveNames([claimId]);
        return name ?? null;
      },
    },
    log,
    nowSec: deps.nowSec,
    listen: (listener) => listen(reader, mempool, listener),
    onFatal: deps.onFatal,
    warn: deps.warn,
    showStart: deps.showStart,
  };
}

function chainPort({ services, reader, mempool }: WalletPortDeps): NodePort['chain'] {
  const { chain, headers } = reader;
  const { active } = chain.index;
  const idAt = (height: number): number => active.at(height);
  return {
    get height() {
      return chain.height;
    },
    heightOf(hash) {
      const id = headers.find(hash);
      return id >= 0 && active.contains(id) ? headers.height(id) : -1;
    },
    isKnown: (hash) => headers.find(hash) >= 0,
    hashAt: (height) => (height < 0 || height > chain.height ? null : headers.hash(idAt(height))),
    timeSecAt: (height) => headers.timeSec(idAt(height)),
    firstFrom(timeSec) {
      for (let height = 0; height <= chain.height; height++)
        if (headers.timeSec(idAt(height)) >= timeSec) return height;
      return -1;
    },
    medianTimeSecAt: (height) => active.medianTimeOf(idAt(height)),
    hasBlock: (height) => reader.hasData(idAt(height)),
    get snapshotHeight() {
      return chain.index.snapshotHeight;
    },
    async readBlock(height): Promise<WalletBlock> {
      const { raw, parsed, hash, header } = await reader.readBlockAside(idAt(height));
      return { height, hash, timeSec: header.timeSec, raw, parsed };
    },
    scanPayments: (heights, sought) => reader.scanPayments(heights.map(idAt), sought),
    isInitialDownload: () => chain.isInitialDownload(),
    reorganised: () => chain.reorganisation.over,
    async coin(outPoint): Promise<PortCoin | null> {
      if (mempool.isSpent(outPoint)) return null;
      const made = mempool.output(outPoint);
      if (made !== null)
        return { valueSat: made.amountSat, script: made.script, height: -1, isCoinbase: false };
      const coin = await reader.coin(outPoint);
      return coin === null
        ? null
        : {
            valueSat: coin.amount,
            script: coin.script,
            height: coin.heightCode >>> 1,
            isCoinbase: (coin.heightCode & 1) === 1,
          };
    },
    blocksTouching: (scripts, first, last) => blocksTouching(services, scripts, first, last),
  };
}

/**
 * Returns the heights of the blocks with payments to or from the scripts, according to the address index. Null if the index
 * does not cover the whole chain.
 */
async function blocksTouching(
  { addresses, indexes }: RpcServices,
  scripts: readonly Bytes[],
  first: number,
  last: number,
): Promise<number[] | null> {
  if (addresses === null) return null;
  if (!indexes().some(({ name, synced }) => name === 'addressindex' && synced)) return null;
  const heights = new Set<number>();
  const keys = new Set(scripts.map(scriptKeyOf));
  for (const key of keys) {
    if (key === null) continue;
    let after: Bytes | undefined;
    do {
      const request = { limit: PAGE_ENTRIES, startHeight: first, endHeight: last, after };
      const { entries, next } = await addresses.history([key], request);
      for (const { height } of entries) heights.add(height);
      after = next ?? undefined;
    } while (after !== undefined);
  }
  return [...heights].sort((a, b) => a - b);
}

async function submit(deps: WalletPortDeps, tx: Transaction, maxFeeSat: bigint): Promise<string | null> {
  const txid = txidOf(tx);
  if (deps.mempool.entry(txid) === null) {
    const why = refusal(await deps.mempool.acceptToMempool(tx, { maxFeeSat }));
    if (why !== null) return why;
  }
  announce(deps, txid);
  return null;
}

/** Returns the reason why the mempool rejects a transaction; null if it is accepted or already in the mempool. */
function refusal({ error, missingInputs }: AcceptVerdict): string | null {
  if (missingInputs) return 'Missing inputs';
  return error === null || error.reason === 'txn-already-in-mempool' ? null : formatVerdict(error);
}

function announce({ mempool, services }: WalletPortDeps, txid: Bytes): void {
  mempool.keepAnnouncing(txid);
  services.peers?.announce(txid);
}

function listen({ chain }: ChainReader, mempool: Mempool, listener: NodeListener): () => void {
  const headers = chain.index.headers;
  const { events } = chain;
  const blockOf = ({ id, height, hash, raw, parsed }: ChainEventMap['blockConnected']): WalletBlock => ({
    height,
    hash,
    timeSec: headers.timeSec(id),
    raw,
    parsed,
  });
  const offs = [
    events.on('blockConnected', (block) => listener.blockConnected(blockOf(block))),
    events.on('blockDisconnected', (block) => listener.blockDisconnected(block)),
    events.on('tipChanged', () => listener.tipChanged()),
    mempool.listen({
      added: ({ txid }, bytes) => listener.transactionAdded(txid, bytes),
      removed: ({ txid }, reason) => listener.transactionRemoved(txid, reason === 'block'),
    }),
  ];
  return () => {
    for (const off of offs) off();
  };
}

/**
 * Returns the state of a claim or support in the claim trie. Source: lbrycrd claimtrie.h `haveClaim`, `haveSupport`,
 * `haveClaimInQueue`, `haveSupportInQueue`.
 */
async function standing(
  { claims, chain }: RpcServices,
  name: Bytes,
  outPoint: Bytes,
): Promise<ClaimStanding | null> {
  const { height } = chain.chain;
  const info = await claims.nameAt({ name, height });
  const n = Buffer.from(outPoint).readUInt32LE(32);
  const found = filedOutput(info, outPoint.subarray(0, 32), n);
  if (found === undefined) return null;
  const { claim, output: support } = found;
  if (claim !== null) {
    return {
      isInTrie: claim.active,
      isControlling: claim.active && claim.bid === 0,
      isInQueue: !claim.active,
      validAtHeight: claim.validAtHeight,
      effectiveAmountSat: claim.effectiveAmount,
    };
  }
  return {
    isInTrie: support.active,
    isControlling: false,
    isInQueue: !support.active,
    validAtHeight: support.validAtHeight,
    effectiveAmountSat: support.amount,
  };
}
