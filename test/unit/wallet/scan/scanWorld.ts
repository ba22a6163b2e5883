/** Chains of blocks, and wallets in files that follow them, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FoundPayments, scanPayments } from '../../../../src/chain/blocks/paymentScan.js';
import { hash160, sha256d } from '../../../../src/crypto/hash.js';
import { merkleRoot } from '../../../../src/crypto/merkle.js';
import { scriptKeyOf } from '../../../../src/index/addressScripts.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { formatBlock } from '../../../../src/primitives/block.js';
import { parseBlockView } from '../../../../src/primitives/blockView.js';
import { headerHash } from '../../../../src/primitives/header.js';
import { formatTransaction, txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { fromLatin1, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { inSlices } from '../../../../src/scheduler/slices.js';
import { balance } from '../../../../src/wallet/ledger/balances.js';
import { Follower } from '../../../../src/wallet/follower.js';
import type { NodeListener, NodePort, WalletBlock } from '../../../../src/wallet/port.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';
import { WalletFile } from '../../../../src/wallet/store/walletFile.js';
import { Wallet } from '../../../../src/wallet/wallet.js';

export const START_SEC = 1_600_000_000;
export const BLOCK_SEC = 600;
const STRANGER = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, 9) });

let serial = 0;

/** Pays 1,000 satoshis to each script. It spends an output, or an output that does not exist. */
export function payment(scripts: readonly Bytes[], spent?: { tx: Transaction; n: number }): Transaction {
  const hash = spent ? txid(spent.tx) : sha256d(Buffer.from(`${serial}`));
  return {
    version: 2,
    inputs: [
      {
        prevout: { hash, index: spent?.n ?? 0 },
        scriptSig: Buffer.alloc(0),
        sequence: ~0 >>> 0,
        witness: [],
      },
    ],
    outputs: scripts.map((script) => ({ value: 1000n, script })),
    lockTime: serial++,
  };
}

export class ScanWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'scan-'));
  readonly log: string[] = [];
  blocks: WalletBlock[] = [];
  mempool: Transaction[] = [];
  /** Whether the chain has an address index, and which blocks were read. */
  hasIndex = false;
  /** Whether blocks are scanned in bulk. Otherwise each block is read in detail. */
  isQuick = false;
  prunedBelow = 0;
  reads: number[] = [];
  /** Runs before a block is returned. */
  onRead: (height: number) => void | Promise<void> = () => undefined;
  keypoolSize = 5;
  nowSec = START_SEC;
  readonly listeners = new Set<NodeListener>();
  readonly touches: Map<number, Set<string>>[] = [];
  private readonly open = new Set<Wallet>();

  constructor() {
    this.mine();
  }

  mine(txs: readonly Transaction[] = []): WalletBlock {
    const height = this.blocks.length;
    const coinbase = payment([STRANGER]);
    const header = {
      version: 1,
      prevHash: this.blocks[height - 1]?.hash ?? Buffer.alloc(32),
      merkleRoot: merkleRoot([coinbase, ...txs].map(txid)).root,
      claimRoot: Buffer.alloc(32),
      timeSec: START_SEC + height * BLOCK_SEC,
      bits: 0,
      nonce: serial++,
    };
    const raw = formatBlock({ header, transactions: [coinbase, ...txs] });
    const block = {
      height,
      hash: headerHash(raw),
      timeSec: header.timeSec,
      raw,
      parsed: parseBlockView(raw),
    };
    this.blocks.push(block);
    this.file(height, txs);
    const ids = txs.map((tx) => toLatin1(txid(tx)));
    this.mempool = this.mempool.filter((tx) => !ids.includes(toLatin1(txid(tx))));
    for (const listener of this.listeners) {
      listener.blockConnected(block);
      listener.tipChanged();
    }
    return block;
  }

  /** Disconnects the last block. */
  unmine(): void {
    const block = this.blocks.pop()!;
    this.touches.pop();
    for (const listener of this.listeners) listener.blockDisconnected(block);
  }

  private readonly scriptOf = new Map<string, Bytes>();

  /** Adds the entries of an address index. */
  private file(height: number, txs: readonly Transaction[]): void {
    const keys = new Set<string>();
    for (const tx of txs) {
      for (const { prevout } of tx.inputs) {
        const script = this.scriptOf.get(`${toLatin1(prevout.hash)}${prevout.index}`);
        if (script) keys.add(scriptKeyOf(script)!);
      }
      tx.outputs.forEach(({ script }, n) => {
        this.scriptOf.set(`${toLatin1(txid(tx))}${n}`, script);
        keys.add(scriptKeyOf(script)!);
      });
    }
    this.touches.push(new Map([[height, keys]]));
  }

  get port(): NodePort {
    return portOf(this);
  }

  private wrap(file: WalletFile): Wallet {
    const options = { keypoolSize: this.keypoolSize, payTxFeeRatePerKb: 0n } as Wallet['options'];
    const wallet = new Wallet('', { node: this.port, file, options });
    this.open.add(wallet);
    return wallet;
  }

  /** Creates a wallet that follows the chain. */
  async make(name: string, { privateKeys = true } = {}): Promise<Wallet> {
    const wallet = this.wrap(await WalletFile.create(join(this.folder, name)));
    await wallet.change((batch) => {
      for (const _ of wallet.begin(batch, { privateKeys }));
    });
    await new Follower(wallet).start();
    return wallet;
  }

  /** Opens the file of a wallet. With `follows`, it is brought to the tip. */
  async load(name: string, { follows = true } = {}): Promise<Wallet> {
    const wallet = this.wrap(await WalletFile.open(join(this.folder, name)));
    await inSlices(wallet.load());
    await wallet.keys.topUp();
    if (follows) await new Follower(wallet).start();
    return wallet;
  }

  async shut(wallet: Wallet): Promise<void> {
    this.open.delete(wallet);
    await wallet.close();
  }

  async close(): Promise<void> {
    for (const wallet of [...this.open]) await this.shut(wallet);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Scripts of this number of new addresses. */
export function newScripts(wallet: Wallet, count: number): Buffer[] {
  const batch = new WalletBatch();
  const scripts: Buffer[] = [];
  for (let n = 0; n < count; n++) {
    const reserved = wallet.keys.reserve(batch, false)!;
    wallet.keypool.keep(batch, reserved);
    scripts.push(scriptForDestination({ type: 'pubkeyhash', hash: hash160(reserved.key.publicKey) }));
  }
  void wallet.write(batch);
  return scripts;
}

/** The state of a wallet: every transaction with its position and its own outputs, and the sum. */
export function standOf(wallet: Wallet): unknown {
  const { ledger } = wallet;
  return {
    unspent: [...ledger.unspentOutputs()].map(([key]) => Buffer.from(fromLatin1(key)).toString('hex')).sort(),
    trusted: balance(ledger, { spendsUnconfirmedChange: true, isFinal: () => true }).trusted,
    txs: [...ledger.all()]
      .map(({ key, state, height, outputs }) =>
        [fromLatin1(key).toString('hex'), state, height, outputs.length].join(),
      )
      .sort(),
  };
}

function portOf(world: ScanWorld): NodePort {
  const { blocks, log } = world;
  const note = (line: string): void => void log.push(line);
  const port: {
    [K in keyof NodePort]?: NodePort[K] extends (...args: never[]) => unknown
      ? NodePort[K]
      : Partial<NodePort[K]>;
  } = {
    params: regtestParams,
    chain: {
      get height() {
        return blocks.length - 1;
      },
      heightOf: (hash) =>
        blocks.findIndex((block) => block.hash === hash || Buffer.compare(block.hash, hash) === 0),
      hashAt: (height) => blocks[height]?.hash ?? null,
      timeSecAt: (height) => blocks[height]!.timeSec,
      medianTimeSecAt: (height) => blocks[height]!.timeSec,
      firstFrom: (timeSec) => blocks.findIndex((block) => block.timeSec >= timeSec),
      reorganised: () => null,
      hasBlock: (height) => height >= world.prunedBelow,
      snapshotHeight: -1,
      async readBlock(height: number) {
        const block = blocks[height];
        world.reads.push(height);
        await world.onRead(height);
        if (!block) throw new Error('no such block');
        return block;
      },
      scanPayments: (heights, sought) => {
        const raws = world.isQuick ? heights.map((height) => blocks[height]!.raw) : [];
        const places = raws.flatMap((_, n) => {
          const start = raws.slice(0, n).reduce((sum, { length }) => sum + length, 0);
          return [start, start + raws[n]!.length];
        });
        const run = {
          bytes: Buffer.concat(raws),
          places: Uint32Array.from(places),
          ids: Buffer.concat(heights.slice(0, raws.length).map((height) => blocks[height]!.hash)),
          segwitFrom: raws.length,
        };
        return world.isQuick
          ? scanPayments(run, sought)
          : Promise.resolve(new FoundPayments(run, Uint32Array.of(0)));
      },
      blocksTouching: (scripts, first, last) => {
        if (!world.hasIndex) return Promise.resolve(null);
        const keys = scripts.map(scriptKeyOf);
        const found: number[] = [];
        for (let height = first; height <= last && height < blocks.length; height++)
          if (keys.some((key) => world.touches[height]!.get(height)!.has(key!))) found.push(height);
        return Promise.resolve(found);
      },
    },
    mempool: {
      has: (id: Bytes) => world.mempool.some((tx) => Buffer.compare(txid(tx), id) === 0),
      all: () => world.mempool.map((tx) => ({ txid: txid(tx), bytes: formatTransaction(tx) })),
    },
    log: { info: note, warn: note, error: note, debug: () => undefined, willLog: () => false },
    nowSec: () => world.nowSec,
    listen: (listener) => {
      world.listeners.add(listener);
      return () => world.listeners.delete(listener);
    },
    onFatal: (error) => {
      throw error;
    },
    warn: note,
    showStart: () => undefined,
  };
  return port as NodePort;
}
