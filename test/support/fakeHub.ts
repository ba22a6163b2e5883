/** A hub in the test's process with a chain that the test makes. The test can replace its answers. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { deflateRawSync } from 'node:zlib';
import { merklePath, merkleRoot } from '../../src/crypto/merkle.js';
import { sha256 } from '../../src/crypto/hash.js';
import { formatHeader, headerHash, parseHeaderBytes } from '../../src/primitives/header.js';
import { parseTransaction, txid as idOf } from '../../src/primitives/transaction.js';
import { Reader } from '../../src/util/reader.js';
import { Txo } from '../../src/daemon/txo/txo.js';
import { asBuffer, hashFromHex, hashToHex } from '../../src/util/bytes.js';
import { made, regtest, type MadeTransaction } from './ledgerTransactions.js';

interface FakeBlock {
  readonly header: Buffer;
  readonly txs: readonly MadeTransaction[];
}

/** Blocks without proof of work after the genesis block of regtest, and a mempool. */
export class FakeChain {
  readonly blocks: FakeBlock[] = [
    { header: Buffer.from(regtest.network.genesis.block.subarray(0, 112)), txs: [] },
  ];
  readonly mempool: MadeTransaction[] = [];
  /** Makes the blocks of chains that branch at the same height different. */
  readonly mark: number;

  constructor(mark = 0) {
    this.mark = mark;
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  /** A copy up to a height, with other blocks after it. Transactions of the replaced blocks become unconfirmed. */
  branch(height: number, mark: number): FakeChain {
    const branch = new FakeChain(mark);
    branch.blocks.splice(0, 1, ...this.blocks.slice(0, height + 1));
    branch.mempool.push(...this.blocks.slice(height + 1).flatMap(({ txs }) => txs), ...this.mempool);
    return branch;
  }

  /** Mines a block with the unconfirmed transactions, and empty blocks after it. */
  mine(count = 1): void {
    for (let n = 0; n < count; n++) {
      const txs = this.mempool.splice(0);
      const before = this.blocks.at(-1)!.header;
      const leaves = txs.map(({ txid }) => txid);
      const root =
        leaves.length > 0 ? merkleRoot(leaves).root : sha256(Buffer.from(`${this.mark}:${this.height}`));
      const { bits, timeSec } = parseHeaderBytes(before);
      const header = formatHeader({
        version: 1,
        prevHash: headerHash(before),
        merkleRoot: root,
        claimRoot: Buffer.alloc(32),
        timeSec: timeSec + 1,
        bits,
        nonce: this.mark,
      });
      this.blocks.push({ header, txs });
    }
  }

  place(id: string): { height: number; index: number; tx: MadeTransaction } | null {
    for (const [height, { txs }] of this.blocks.entries()) {
      const index = txs.findIndex(({ txid }) => hashToHex(txid) === id);
      if (index >= 0) return { height, index, tx: txs[index]! };
    }
    const tx = this.mempool.find(({ txid }) => hashToHex(txid) === id);
    return tx ? { height: 0, index: -1, tx } : null;
  }

  private addresses(one: MadeTransaction): Set<string> {
    const addressesOf = ({ tx, txid }: MadeTransaction): (string | null)[] =>
      tx.outputs.map(({ value, script }, nout) =>
        new Txo({ txid, nout, height: 0, amountDewies: value, script, firstOutPoint: null }).address(regtest),
      );
    const spent = one.tx.inputs.flatMap(({ prevout }) => {
      const tx = this.place(hashToHex(prevout.hash))?.tx;
      return tx ? [addressesOf(tx)[prevout.index] ?? null] : [];
    });
    return new Set([...addressesOf(one), ...spent].filter((address) => address !== null));
  }

  private isUnconfirmed(hash: Uint8Array): boolean {
    return this.mempool.some(({ txid }) => txid.equals(hash));
  }

  history(address: string): { tx_hash: string; height: number }[] {
    const found = (txs: readonly MadeTransaction[], height: (one: MadeTransaction) => number) =>
      txs
        .filter((one) => this.addresses(one).has(address))
        .map((one) => ({ tx_hash: hashToHex(one.txid), height: height(one) }));
    return [
      ...this.blocks.flatMap(({ txs }, height) => found(txs, () => height)),
      ...found(this.mempool, ({ tx }) =>
        tx.inputs.some(({ prevout }) => this.isUnconfirmed(prevout.hash)) ? -1 : 0,
      ),
    ];
  }

  status(address: string): string | null {
    const text = this.history(address)
      .map(({ tx_hash: id, height }) => `${id}:${height}:`)
      .join('');
    return text === '' ? null : sha256(Buffer.from(text)).toString('hex');
  }

  pair(id: string): readonly [string | null, object] {
    const place = this.place(id);
    if (!place) return [null, { block_height: -1 }];
    const { height, index, tx } = place;
    if (height === 0) return [tx.raw.toString('hex'), { block_height: -1 }];
    const leaves = Buffer.concat(this.blocks[height]!.txs.map(({ txid }) => txid));
    const merkle = merklePath(leaves, index).map(hashToHex);
    return [tx.raw.toString('hex'), { block_height: height, merkle, pos: index }];
  }
}

type Params = readonly never[];
/**
 * Returns the answer that replaces the hub's. Undefined: the hub sends its own answer. `SILENCE`: the hub sends nothing. A
 * `RawAnswer`: the hub sends its bytes. A thrown error becomes an error answer.
 */
export type Answerer = (method: string, params: readonly unknown[]) => unknown;

export const SILENCE = Symbol('silence');
/** Bytes that are sent instead of an answer. */
export class RawAnswer {
  readonly bytes: Buffer;
  constructor(bytes: Buffer | string) {
    this.bytes = Buffer.from(bytes as string);
  }
}

/** The answer to a ping by UDP. The country has the number of claim metadata. */
export function pongBytes({ flags = 1, height = 0, country = 0 } = {}): Buffer {
  const bytes = Buffer.alloc(44);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt8(flags, 1);
  bytes.writeUInt32BE(height, 2);
  bytes.writeUInt16BE(country, 42);
  return bytes;
}

export class FakeHub {
  private static readonly running = new Set<FakeHub>();
  chain: FakeChain;
  answer: Answerer = () => undefined;
  readonly asked: string[] = [];
  /** Reason with which the hub refuses a transaction without outputs. */
  refusal = 'bad-txns-vout-empty (code 16)';
  private readonly tcpServer: Server;
  private readonly sockets = new Set<Socket>();
  private readonly addresses = new Map<Socket, Map<string, string | null>>();
  private udp: UdpSocket | null = null;

  private constructor(chain: FakeChain) {
    this.chain = chain;
    this.tcpServer = createServer((socket) => this.serve(socket));
  }

  static async start(chain: FakeChain): Promise<FakeHub> {
    const hub = new FakeHub(chain);
    await new Promise<void>((resolve) => hub.tcpServer.listen(0, '127.0.0.1', resolve));
    FakeHub.running.add(hub);
    return hub;
  }

  /** Stops the hubs that are still running. */
  static async stopAll(): Promise<void> {
    for (const hub of [...FakeHub.running]) await hub.stop();
  }

  get server(): { host: string; port: number } {
    return { host: '127.0.0.1', port: (this.tcpServer.address() as AddressInfo).port };
  }

  /** From then on, pings by UDP are answered with this country. */
  async answerPings(country: number): Promise<void> {
    const udp = (this.udp = createSocket('udp4'));
    udp.on('message', (_bytes, { address, port }) => udp.send(pongBytes({ country }), port, address));
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject);
      udp.bind(this.server.port, '127.0.0.1', resolve);
    });
  }

  get connections(): number {
    return this.sockets.size;
  }

  /** Disconnects all clients. */
  drop(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    FakeHub.running.delete(this);
    this.udp?.close();
    this.udp = null;
    this.drop();
    await new Promise((resolve) => this.tcpServer.close(resolve));
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    this.addresses.set(socket, new Map());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.addresses.delete(socket);
    });
    let rest = '';
    socket.on('data', (chunk): unknown => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        // The port may have belonged to another program, whose clients may still connect.
        if (!line.startsWith('{')) return socket.destroy();
        this.line(socket, JSON.parse(line) as { id: number; method: string; params: unknown[] });
      }
    });
  }

  private line(
    socket: Socket,
    { id, method, params }: { id: number; method: string; params: unknown[] },
  ): void {
    this.asked.push(method);
    try {
      const given = this.answer(method, params);
      if (given === SILENCE) return;
      if (given instanceof RawAnswer) {
        socket.write(given.bytes);
        return;
      }
      const result = given === undefined ? this.honest(socket, method, params as unknown as Params) : given;
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
    } catch (error) {
      const message = (error as Error).message;
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message } })}\n`);
    }
  }

  private tip(): object {
    return { hex: this.chain.blocks.at(-1)!.header.toString('hex'), height: this.chain.height };
  }

  private honest(socket: Socket, method: string, params: Params): unknown {
    const { chain } = this;
    switch (method) {
      case 'server.version':
        return ['0.107.0', '0.113.0'];
      case 'server.features':
        return { genesis_hash: hashToHex(regtest.network.genesisHash) };
      case 'server.ping':
        return null;
      case 'blockchain.headers.subscribe':
        return this.tip();
      case 'blockchain.block.headers': {
        const [start, count] = params as unknown as [number, number];
        const headers = chain.blocks.slice(start, start + count).map(({ header }) => header);
        return {
          base64: headers.length > 0 ? deflateRawSync(Buffer.concat(headers)).toString('base64') : '',
        };
      }
      case 'blockchain.address.subscribe':
        return (params as readonly string[]).map((address) => {
          const status = chain.status(address);
          this.addresses.get(socket)!.set(address, status);
          return status;
        });
      case 'blockchain.address.unsubscribe':
        this.addresses.get(socket)!.delete(params[0]! as string);
        return null;
      case 'blockchain.address.get_history':
        return chain.history(params[0]!);
      case 'blockchain.transaction.get_batch':
        return Object.fromEntries((params as readonly string[]).map((id) => [id, chain.pair(id)]));
      case 'blockchain.transaction.broadcast': {
        const tx = made(parseTransaction(new Reader(asBuffer(Buffer.from(params[0]!, 'hex')))));
        if (tx.tx.outputs.length === 0)
          throw new Error(
            `the transaction was rejected by network rules.\n\n${this.refusal}\n[${params[0]!}]`,
          );
        if (!chain.place(hashToHex(tx.txid))) chain.mempool.push(tx);
        this.tell();
        return hashToHex(idOf(tx.tx));
      }
      default:
        throw new Error(`unknown method ${method}`);
    }
  }

  /** Sends a notification to all connected clients. */
  say(method: string, params: readonly unknown[]): void {
    for (const socket of this.sockets)
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  /** Notifies the clients of the tip and of the addresses that changed. */
  tell(): void {
    for (const [socket, addresses] of this.addresses) {
      const send = (message: unknown): boolean => socket.write(`${JSON.stringify(message)}\n`);
      send({ jsonrpc: '2.0', method: 'blockchain.headers.subscribe', params: [this.tip()] });
      for (const [address, before] of addresses) {
        const status = this.chain.status(address);
        if (status === before) continue;
        addresses.set(address, status);
        send([{ jsonrpc: '2.0', method: 'blockchain.address.subscribe', params: [address, status] }]);
      }
    }
  }
}

export const idBytes = hashFromHex;
