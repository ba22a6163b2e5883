/**
 * A node for tests of wallets: the test makes the chain and sets fee rates and clock. The mempool accepts every transaction
 * unless the test refuses it. All operations complete immediately, and nothing is validated.
 */
import { FoundPayments } from '../../../../src/chain/blocks/paymentScan.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { formatBlock } from '../../../../src/primitives/block.js';
import { parseBlockView } from '../../../../src/primitives/blockView.js';
import { headerHash, HEADER_SIZE_BYTES } from '../../../../src/primitives/header.js';
import {
  formatTransaction,
  txid,
  type Transaction,
  type TxOutput,
} from '../../../../src/primitives/transaction.js';
import { toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import type { NodeListener, NodePort, PortCoin, WalletBlock } from '../../../../src/wallet/port.js';

interface Waiting {
  readonly tx: Transaction;
  readonly txid: Buffer;
  readonly bytes: Buffer;
}

/** Blocks are so far apart. */
const SPACING_SEC = 150;
const START_SEC = 1_600_000_000;

/** All blocks need a closer look. */
const NOTHING_FOUND = new FoundPayments(
  { bytes: Buffer.alloc(0), places: new Uint32Array(), ids: Buffer.alloc(0), segwitFrom: 0 },
  Uint32Array.of(0),
);

export class FakeNode {
  timeSec = START_SEC;
  /** Fee rates of the estimator by target; 0 for none. */
  estimate: (targetBlocks: number, conservative: boolean) => bigint = () => 0n;
  /** Minimum fee rates of the mempool for 1,000 virtual bytes. */
  readonly rates = { mempoolMin: 1000n };
  /** The reason for which the mempool refuses a transaction; null accepts it. */
  refuse: (tx: Transaction) => string | null = () => null;
  /** Settles at the end of the present reorganisation; null if there is none. */
  reorganisation: Promise<void> | null = null;
  readonly limits = { ancestors: 25, descendants: 25 };
  readonly blocks: WalletBlock[] = [];
  readonly announced: string[] = [];
  readonly warnings: string[] = [];
  readonly startStatuses: string[] = [];
  readonly lines: string[] = [];
  readonly failures: unknown[] = [];
  private readonly waiting = new Map<string, Waiting>();
  private readonly listeners = new Set<NodeListener>();
  private readonly heights = new Map<string, number>();
  private serial = 0;

  readonly port: NodePort = {
    params: regtestParams,
    log: { ...SILENT_LOGGER, info: (line) => void this.lines.push(line) },
    chain: this.chainPort(),
    mempool: this.mempoolPort(),
    fees: this.feePort(),
    claims: {
      standing: () => Promise.resolve(null),
      expirationHeight: (madeAt) => madeAt + 500,
      nameOf: () => Promise.resolve(null),
    },
    nowSec: () => this.timeSec,
    listen: (listener) => {
      this.listeners.add(listener);
      return () => void this.listeners.delete(listener);
    },
    onFatal: (error) => void this.failures.push(error),
    warn: (message) => void this.warnings.push(message),
    showStart: (status) => void this.startStatuses.push(status),
  };

  private chainPort(): NodePort['chain'] {
    const { blocks } = this;
    const heightOf = (hash: Bytes): number => {
      const height = this.heights.get(toLatin1(hash)) ?? -1;
      return height < blocks.length ? height : -1;
    };
    return {
      get height() {
        return blocks.length - 1;
      },
      heightOf,
      isKnown: (hash) => heightOf(hash) >= 0,
      hashAt: (height) => blocks[height]?.hash ?? null,
      timeSecAt: (height) => blocks[height]?.timeSec ?? 0,
      firstFrom: (timeSec) => blocks.findIndex((block) => block.timeSec >= timeSec),
      medianTimeSecAt: (height) => blocks[Math.max(0, height - 5)]?.timeSec ?? 0,
      hasBlock: () => true,
      snapshotHeight: -1,
      readBlock: (height) => Promise.resolve(blocks[height]!),
      scanPayments: () => Promise.resolve(NOTHING_FOUND),
      isInitialDownload: () => false,
      reorganised: () => this.reorganisation,
      coin: (outPoint) => Promise.resolve(this.coin(outPoint)),
      blocksTouching: () => Promise.resolve(null),
    };
  }

  private mempoolPort(): NodePort['mempool'] {
    const { waiting } = this;
    return {
      has: (id) => waiting.has(toLatin1(id)),
      relatives: (id) =>
        waiting.has(toLatin1(id))
          ? { ancestors: this.ancestors(id).length + 1, descendants: this.descendants(id).length + 1 }
          : null,
      ancestors: (id) => this.ancestors(id),
      transaction: (id) => waiting.get(toLatin1(id))?.tx ?? null,
      all: () => waiting.values(),
      limits: this.limits,
      submit: (tx) => {
        const refusal = this.refuse(tx);
        if (refusal === null) this.addToMempool(tx);
        return Promise.resolve(refusal);
      },
      test: (tx) => Promise.resolve(this.refuse(tx)),
      announce: (id) => void this.announced.push(toLatin1(id)),
      isReplaceable: (id) =>
        waiting.get(toLatin1(id))?.tx.inputs.some(({ sequence }) => sequence < 0xfffffffe) === true,
    };
  }

  private feePort(): NodePort['fees'] {
    const { rates } = this;
    return {
      estimateSmart: (blocks, conservative) => ({ ratePerKb: this.estimate(blocks, conservative), blocks }),
      highestTarget: 1008,
      get mempoolMinRatePerKb() {
        return rates.mempoolMin;
      },
      relayMinRatePerKb: 1000n,
      incrementalRatePerKb: 1000n,
      dustRatePerKb: 3000n,
    };
  }

  private coin(outPoint: Bytes): PortCoin | null {
    const [hash, n] = [outPoint.subarray(0, 32), Buffer.from(outPoint).readUInt32LE(32)];
    const output = this.waiting.get(toLatin1(hash))?.tx.outputs[n];
    return output === undefined
      ? null
      : { valueSat: output.value, script: output.script, height: -1, isCoinbase: false };
  }

  private ancestors(id: Bytes): Buffer[] {
    const found = new Map<string, Buffer>();
    const visit = (key: string): void => {
      for (const { prevout } of this.waiting.get(key)?.tx.inputs ?? []) {
        const parent = this.waiting.get(toLatin1(prevout.hash));
        if (parent === undefined || found.has(toLatin1(prevout.hash))) continue;
        found.set(toLatin1(prevout.hash), parent.txid);
        visit(toLatin1(prevout.hash));
      }
    };
    visit(toLatin1(id));
    return [...found.values()];
  }

  private descendants(id: Bytes): Waiting[] {
    return [...this.waiting.values()].filter((one) =>
      this.ancestors(one.txid).some((ancestor) => Buffer.compare(ancestor, id) === 0),
    );
  }

  /** Adds a transaction to the mempool. Conflicting transactions are removed. */
  addToMempool(tx: Transaction): Buffer {
    const id = txid(tx);
    if (this.waiting.has(toLatin1(id))) return id;
    const spent = new Set(tx.inputs.map(({ prevout }) => `${toLatin1(prevout.hash)} ${prevout.index}`));
    for (const other of [...this.waiting.values()])
      if (other.tx.inputs.some(({ prevout }) => spent.has(`${toLatin1(prevout.hash)} ${prevout.index}`)))
        this.dropFromMempool(other.txid);
    const bytes = formatTransaction(tx);
    this.waiting.set(toLatin1(id), { tx, txid: id, bytes });
    for (const listener of this.listeners) listener.transactionAdded(id, bytes);
    return id;
  }

  dropFromMempool(id: Bytes, inBlock = false): void {
    if (!this.waiting.delete(toLatin1(id))) return;
    for (const listener of this.listeners) listener.transactionRemoved(id, inBlock);
  }

  /** Connects a block with these transactions, by default those of the mempool, and a coinbase with these outputs. */
  mine(
    outputs: readonly TxOutput[] = [{ value: 0n, script: Buffer.of(0x6a) }],
    txs: readonly Transaction[] = [...this.waiting.values()].map(({ tx }) => tx),
  ): WalletBlock {
    const height = this.blocks.length;
    this.timeSec += SPACING_SEC;
    const coinbase = coinbaseOf(height, this.serial++, outputs);
    const header = {
      version: 1,
      prevHash: this.blocks.at(-1)?.hash ?? Buffer.alloc(32),
      merkleRoot: sha256(Buffer.from(`${this.serial}`)),
      claimRoot: Buffer.alloc(32),
      timeSec: this.timeSec,
      bits: 0,
      nonce: 0,
    };
    const raw = formatBlock({ header, transactions: [coinbase, ...txs] });
    const hash = headerHash(raw.subarray(0, HEADER_SIZE_BYTES));
    const block = { height, hash, timeSec: this.timeSec, raw, parsed: parseBlockView(raw) };
    this.blocks.push(block);
    this.heights.set(toLatin1(hash), height);
    for (const tx of txs) this.dropFromMempool(txid(tx), true);
    for (const listener of this.listeners) listener.blockConnected(block);
    for (const listener of this.listeners) listener.tipChanged();
    return block;
  }

  mineEmpty(count: number): void {
    for (let i = 0; i < count; i++) this.mine(undefined, []);
  }

  /** Disconnects the last block. */
  disconnect(): void {
    const block = this.blocks.pop()!;
    this.heights.delete(toLatin1(block.hash));
    for (const listener of this.listeners) listener.blockDisconnected(block);
    for (const listener of this.listeners) listener.tipChanged();
  }
}

function coinbaseOf(height: number, serial: number, outputs: readonly TxOutput[]): Transaction {
  const scriptSig = Buffer.alloc(9, 8);
  scriptSig.writeUInt32LE(height, 1);
  scriptSig.writeUInt32LE(serial, 5);
  return {
    version: 1,
    inputs: [
      {
        prevout: { hash: Buffer.alloc(32), index: 0xffffffff },
        scriptSig,
        sequence: 0xffffffff,
        witness: [],
      },
    ],
    outputs: [...outputs],
    lockTime: 0,
  };
}
