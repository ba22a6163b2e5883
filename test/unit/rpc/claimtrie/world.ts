/**
 * A chain for tests of the claim methods: a real claim store with rows in memory, blocks of claim transactions, and the parts of
 * a chain reader that the methods use. The printed hash of a block contains its height.
 */
import { loadBlock, type LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { Reorganisation } from '../../../../src/chain/reorganisation.js';
import {
  positionInBlock,
  storedTransactionAt,
  type WantedTransaction,
} from '../../../../src/chain/blocks/storedTransactions.js';
import type { CoinValue } from '../../../../src/native/binding.js';
import { networkParams } from '../../../../src/params/networks.js';
import { TX_START, TX_STRIDE } from '../../../../src/primitives/blockLayout.js';
import { formatBlock } from '../../../../src/primitives/block.js';
import {
  emptyInput,
  formatOutPoint,
  NULL_HASH,
  NULL_INDEX,
  txid,
} from '../../../../src/primitives/transaction.js';
import type { OutPoint, Transaction, TxOutput } from '../../../../src/primitives/transaction.js';
import { claimReader } from '../../../../src/rpc/lookup/claimReader.js';
import { invokeMethod } from '../../../../src/rpc/call/callMethod.js';
import type { Profile } from '../../../../src/rpc/declare/method.js';
import { METHODS } from '../../../../src/rpc/declare/methodTable.js';
import { checkJson } from '../../../../src/schema/schemaCheck.js';
import { ChainEvents, type ConnectedBlock } from '../../../../src/chain/chainEvents.js';
import type { RpcServices } from '../../../../src/interfaces/services.js';
import { MethodTable } from '../../../../src/rpc/declare/table.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
  decodeClaimScript,
} from '../../../../src/script/claimScript.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { ClaimStore, type ClaimRules, type ClaimTx } from '../../../../src/store/claims/claimStore.js';
import { NO_HEADER } from '../../../../src/store/files/headerTable.js';
import { hashToHex, toHex, type Bytes } from '../../../../src/util/bytes.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { jsonChunks } from '../../../../src/util/json/jsonStream.js';
import { toPlain, type JsonValue } from '../../../../src/util/json/json.js';
import { REGTEST_RULES } from '../../../support/claimChain.js';
import { MemoryRows } from '../../../support/memoryRows.js';
import { testContext, testServices } from '../support.js';

export const ADDRESS = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
const PAY = scriptForDestination({ type: 'pubkeyhash', hash: new Uint8Array(20) });
const SIDE_BLOCK = 1_000_000;

export function claimOutput(
  name: string | Bytes,
  value: string,
  amountSat: bigint,
  pay: Bytes = PAY,
): TxOutput {
  const prefix = buildClaimPrefix(Buffer.from(name as string), Buffer.from(value, 'hex'));
  return { value: amountSat, script: Buffer.concat([prefix, pay]) };
}

export function updateOutput(name: string, claimId: Bytes, value: string, amountSat: bigint): TxOutput {
  const prefix = buildUpdatePrefix(Buffer.from(name), claimId, Buffer.from(value, 'hex'));
  return { value: amountSat, script: Buffer.concat([prefix, PAY]) };
}

export function supportOutput(name: string, claimId: Bytes, amountSat: bigint, value?: string): TxOutput {
  const metadata = value === undefined ? undefined : Buffer.from(value, 'hex');
  const prefix = buildSupportPrefix(Buffer.from(name), claimId, metadata);
  return { value: amountSat, script: Buffer.concat([prefix, PAY]) };
}

export function plainOutput(amountSat: bigint): TxOutput {
  return { value: amountSat, script: PAY };
}

/** A mined transaction to which a test refers. */
export interface Mined {
  readonly txid: Buffer;
  /** Printed. */
  readonly id: string;
  readonly height: number;
  out(n: number): OutPoint;
  /** Id of the claim made by output `n`. */
  claimId(n: number): Buffer;
}

/** The printed hash of a block of this height in this world. */
export function blockHashAt(height: number): string {
  return height.toString(16).padStart(64, '0');
}

export class World {
  readonly rows = new MemoryRows();
  readonly store: ClaimStore;
  readonly coins = new Map<string, CoinValue>();
  /** Heights whose blocks are pruned. */
  readonly pruned = new Set<number>();
  /** `-claimmetadata`. */
  claimMetadata = false;
  /** Transactions that were read from blocks. */
  reads = 0;
  private readonly blocks: LoadedBlock[] = [];
  /** Undo data of each block. */
  private readonly undos: Buffer[] = [];
  private readonly rules: ClaimRules;
  private readonly events = new ChainEvents();
  private shared: RpcServices | null = null;
  private nonce = 0;

  constructor(rules: ClaimRules = { ...REGTEST_RULES, normalizationForkHeight: 0, allClaimsForkHeight: 0 }) {
    this.rules = rules;
    this.store = new ClaimStore({ rules, proofWindow: 'all' });
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  private transaction(inputs: readonly OutPoint[], outputs: TxOutput[]): Transaction {
    // An input without a previous output makes the ids of transactions different.
    const dummy = { hash: Buffer.alloc(32, 0xdd), index: this.nonce++ };
    return { version: 1, inputs: [...inputs, dummy].map(emptyInput), outputs, lockTime: 0 };
  }

  /** Mines a block with these transactions. Each is a list of spent outpoints and a list of outputs. */
  async mine(
    ...txs: readonly (readonly [spends: readonly OutPoint[], outputs: TxOutput[]])[]
  ): Promise<Mined[]> {
    const height = this.blocks.length;
    const coinbase: Transaction = {
      version: 1,
      inputs: [
        {
          ...emptyInput({ hash: NULL_HASH, index: NULL_INDEX }),
          scriptSig: Buffer.from([height >> 8, height & 255]),
        },
      ],
      outputs: [plainOutput(1n)],
      lockTime: 0,
    };
    const transactions = [coinbase, ...txs.map(([spends, outputs]) => this.transaction(spends, outputs))];
    const header = {
      version: 1,
      prevHash: new Uint8Array(32),
      merkleRoot: new Uint8Array(32),
      claimRoot: new Uint8Array(32),
      timeSec: height,
      bits: 0,
      nonce: 0,
    };
    const block = loadBlock(formatBlock({ header, transactions }));
    this.blocks.push(block);
    this.undos.push(Buffer.alloc(0));
    const rows = this.rows.begin();
    const claimTxs = transactions.slice(1).map((tx, i) => this.apply(tx, height, block, i + 1));
    await this.store.connect(rows, { height, transactions: claimTxs });
    rows.commit();
    this.events.emit('blockConnected', { raw: block.raw, parsed: block.parsed } as unknown as ConnectedBlock);
    return transactions.slice(1).map((tx) => mined(txid(tx), height));
  }

  async mineEmpty(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.mine();
  }

  private apply(tx: Transaction, height: number, block: LoadedBlock, number: number): ClaimTx {
    const id = txid(tx);
    const spends: ClaimTx['spends'] = [];
    const outputs: ClaimTx['outputs'] = [];
    for (const { prevout } of tx.inputs) {
      const key = toHex(formatOutPoint(prevout));
      const coin = this.coins.get(key);
      this.coins.delete(key);
      if (coin) this.undos[height] = Buffer.concat([this.undos[height]!, undoRecord(coin)]);
      const claim = coin && decodeClaimScript(coin.script);
      if (!coin || !claim) continue;
      spends.push({
        txid: prevout.hash,
        n: prevout.index,
        coinHeight: coin.heightCode >>> 1,
        kind: claim.kind,
        hasMetadata: claim.kind === 'support' && claim.value !== undefined,
        name: claim.name,
        claimId: claim.claimId ?? claimIdOf(prevout.hash, prevout.index),
        amount: coin.amount,
      });
    }
    tx.outputs.forEach(({ value, script }, n) => {
      const key = toHex(formatOutPoint({ hash: id, index: n }));
      if (script.length <= 20_005) this.coins.set(key, { heightCode: height * 2, amount: value, script });
      const claim = decodeClaimScript(script);
      if (claim === null) return;
      const hasMetadata = claim.kind === 'support' && claim.value !== undefined;
      const claimId = claim.claimId ? { claimId: claim.claimId } : {};
      outputs.push({ n, kind: claim.kind, hasMetadata, name: claim.name, amount: value, ...claimId });
    });
    return { txid: id, txOffset: block.parsed.txs[number * TX_STRIDE + TX_START]!, spends, outputs };
  }

  /** The services of a node with this chain. Caches of methods persist between calls. */
  services(): RpcServices {
    this.shared ??= this.makeServices();
    return {
      ...this.shared,
      options: { claimMetadata: this.claimMetadata, serializeWitness: true },
    } as unknown as RpcServices;
  }

  private makeServices(): RpcServices {
    const at = (height: number): number => (height >= 0 && height <= this.height ? height : NO_HEADER);
    const height = (): number => this.height;
    const active = {
      at,
      contains: (id: number) => at(id) !== NO_HEADER,
      get height() {
        return height();
      },
      get tip() {
        return height();
      },
      disconnects: 0,
    };
    const chain = {
      chain: {
        get height() {
          return height();
        },
        get tip() {
          return height();
        },
        exclusively: <T>(work: () => Promise<T>) => work(),
        index: { active },
        reorganisation: new Reorganisation(),
        events: this.events,
        deps: { store: this.rows },
      },
      headers: {
        find: (hash: Bytes) => {
          const height = Number(BigInt(`0x${hashToHex(hash)}`));
          return height === SIDE_BLOCK ? height : at(height);
        },
        hash: (id: number) => Buffer.from(blockHashAt(id), 'hex').reverse(),
        height: (id: number) => id,
        txCount: () => 1,
      },
      hasData: (id: number) => !this.pruned.has(id),
      behindSnapshot: () => null,
      readTransaction: (id: number, { txid }: WantedTransaction) => {
        this.reads++;
        const block = this.blocks[id]!;
        return storedTransactionAt(block, positionInBlock(block, txid));
      },
      readUndo: (id: number) => this.undos[id]!,
      readBlock: async (id: number) => this.blocks[id]!,
      coin: async (outPoint: Bytes) => this.coins.get(toHex(outPoint)) ?? null,
      coins: async (outPoints: readonly Bytes[]) =>
        outPoints.map((outPoint) => this.coins.get(toHex(outPoint)) ?? null),
      anyCoinOf: async (id: Bytes) => {
        for (const [key, coin] of this.coins) if (key.startsWith(toHex(id))) return coin;
        return null;
      },
    };
    return {
      ...testServices(),
      params: networkParams('regtest'),
      chain,
      claims: claimReader(this.rows, { rules: this.rules, proofWindow: 'all' }, active),
      pruner: null,
    } as unknown as RpcServices;
  }

  /** Calls a method in a profile and compares the answer with its declaration. Returns the answer as plain values. */
  async call(profile: Profile, name: string, ...params: JsonValue[]): Promise<unknown> {
    const table = new MethodTable(METHODS);
    const method = table.find(name, profile);
    if (method === undefined) throw new Error(`no ${name} in the ${profile} profile`);
    const ctx = testContext({ profile, services: this.services(), table });
    let text = '';
    for await (const chunk of jsonChunks(await invokeMethod(method, ctx, params))) text += chunk;
    const value = parseJson(text);
    const problems = checkJson(method.result, value);
    if (problems.length > 0) throw new Error(`${name} differs from its declaration: ${problems.join('; ')}`);
    return toPlain(value);
  }

  /** Calls a method that must fail. Returns code and message of the error. */
  async failure(profile: Profile, name: string, ...params: JsonValue[]): Promise<[number, string]> {
    try {
      await this.call(profile, name, ...params);
    } catch (error) {
      if (error instanceof Error && 'code' in error) return [error.code as number, error.message];
      throw error;
    }
    throw new Error(`${name} answered`);
  }
}

/** The printed hash of a block that is known and not in the active chain. */
export const SIDE_BLOCK_HASH = blockHashAt(SIDE_BLOCK);

/** An undo record in the format that `parseUndo` reads. */
function undoRecord({ heightCode, amount, script }: CoinValue): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(heightCode, 0);
  header.writeBigInt64LE(amount, 4);
  header.writeUInt32LE(script.length, 12);
  return Buffer.concat([header, script]);
}

function mined(id: Buffer, height: number): Mined {
  return {
    txid: id,
    id: hashToHex(id),
    height,
    out: (index) => ({ hash: id, index }),
    claimId: (n) => claimIdOf(id, n),
  };
}
