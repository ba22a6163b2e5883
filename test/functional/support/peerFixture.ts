/**
 * The node under test and the scripted peers that connect to it. The node may be a reference node, so that the same
 * expectations can be checked on it. One port is for any peer, one for whitelisted peers, to which transactions are announced
 * at once and which are not disconnected.
 */
import { expect } from 'vitest';
import { type PeerInfo, OPEN_ADDRESS, startPeer, until } from './network.js';
import { freePort } from './node.js';
import {
  coinbaseAt,
  mineRow,
  placeAt,
  transaction,
  type MinedBlock,
  type Output,
  type Rpc,
} from './rawChain.js';
import { hashOf, readReject, shown, type Reject, type VersionFields } from './rawMessages.js';
import { RawPeer, type RawMessage } from './rawPeer.js';
import { startReference } from './reference.js';

export interface Subject extends Rpc {
  readonly isReference: boolean;
  readonly port: number;
  readonly trustedPort: number;
  /** The pid of the process; undefined for a reference node. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** `reference` is the path of the reference's binary; without it, our own node is started. */
export async function startSubject(reference?: string, args: readonly string[] = []): Promise<Subject> {
  const trustedPort = await freePort();
  // Nonstandard transactions are refused as on the main network, and the node does not connect to announced addresses.
  const all = [`-whitebind=127.0.0.1:${trustedPort}`, '-acceptnonstdtxn=0', '-connect=0', ...args];
  const ours = reference === undefined ? await startPeer({ args: all }) : null;
  const node = ours ?? (await startReference(reference!, all));
  return {
    isReference: ours === null,
    port: node.p2pPort,
    trustedPort,
    pid: ours?.pid,
    rpc: (method, params) => node.rpc(method, params),
    stop: () => node.stop(),
  };
}

export const COIN_SAT = 100_000_000n;

/** Further checks of a peer. */
export interface PeerView extends PeerInfo {
  subver: string;
  relaytxes: boolean;
  addnode: boolean;
  services: string;
  startingheight: number;
  minfeefilter: number;
}

export class PeerFixture {
  readonly subject: Subject;
  private readonly peers: RawPeer[] = [];
  /** Height of the last coinbase that was spent. */
  private spent = 0;

  constructor(subject: Subject) {
    this.subject = subject;
  }

  rpc<T = unknown>(method: string, params: readonly unknown[] = []): Promise<T> {
    return this.subject.rpc<T>(method, params);
  }

  private keep(peer: RawPeer): RawPeer {
    this.peers.push(peer);
    return peer;
  }

  /** A connection without any message. */
  async open(): Promise<RawPeer> {
    return this.keep(await RawPeer.open(this.subject.port));
  }
  async greet(fields?: VersionFields): Promise<RawPeer> {
    return this.keep(await RawPeer.greet(this.subject.port, fields));
  }
  async greetTrusted(fields?: VersionFields): Promise<RawPeer> {
    return this.keep(await RawPeer.greet(this.subject.trustedPort, fields));
  }

  /** Ends the connections that a test opened. */
  async clear(): Promise<void> {
    for (const peer of this.peers.splice(0)) peer.close();
    await until('no peer is connected', async () => (await this.rpc<unknown[]>('getpeerinfo')).length === 0);
  }

  async infoOf(peer: RawPeer): Promise<PeerView | undefined> {
    return (await this.rpc<PeerView[]>('getpeerinfo')).find(({ addr }) => addr === peer.address);
  }

  /** When all messages of the peer were processed, it has this misbehaviour score and is still connected. */
  async expectScore(peer: RawPeer, points: number): Promise<void> {
    await peer.handled();
    expect((await this.infoOf(peer))?.banscore).toBe(points);
  }

  async expectSentAway(peer: RawPeer): Promise<void> {
    await peer.closed();
    await until('no peer is connected', async () => (await this.infoOf(peer)) === undefined);
  }

  /** Id of a spendable coinbase with one coin; a different one at each call. */
  async coin(): Promise<Buffer> {
    return hashOf(await coinbaseAt(this, ++this.spent));
  }

  /** A transaction that the mempool accepts; by default with one output and a fee of 1,000 satoshis. */
  async payment(outputs: readonly Output[] = [{ valueSat: COIN_SAT - 1000n }]): Promise<Buffer> {
    return transaction([{ txid: await this.coin() }], outputs);
  }

  generate(blocks: number): Promise<string[]> {
    return this.rpc('generatetoaddress', [blocks, OPEN_ADDRESS]);
  }

  tipHash(): Promise<string> {
    return this.rpc('getbestblockhash');
  }

  async untilTip({ hash }: { hash: Buffer }): Promise<void> {
    await until('the new tip', async () => (await this.tipHash()) === shown(hash));
  }

  /**
   * Mines blocks with times an hour ahead. Later blocks are ahead too, so the node counts as in sync with the network for that
   * time (otherwise only for twenty seconds after the last block).
   */
  async runAhead(): Promise<void> {
    const tip = await placeAt(this);
    const ahead = { ...tip, timeSec: Math.floor(Date.now() / 1000) + 3600 };
    for (const { raw } of mineRow(ahead, 8))
      expect(await this.rpc('submitblock', [raw.toString('hex')])).toBeNull();
  }

  async submit({ raw }: MinedBlock): Promise<void> {
    expect(await this.rpc('submitblock', [raw.toString('hex')])).toBeNull();
  }
}

export function payloadsOf(messages: readonly RawMessage[], command: string): Buffer[] {
  return messages.filter((message) => message.command === command).map(({ payload }) => payload);
}

/** Messages that a node sends by itself on a new connection and at any time. */
const INITIATIVES = ['getheaders', 'feefilter', 'addr', 'sendheaders', 'sendcmpct'];

/** Commands of the messages that are answers. */
export const answersAmong = (messages: readonly RawMessage[]): string[] =>
  messages.map(({ command }) => command).filter((command) => !INITIATIVES.includes(command));

/** The reject messages in a list. */
export const rejectsIn = (messages: readonly RawMessage[]): Reject[] =>
  payloadsOf(messages, 'reject').map(readReject);

export const MALFORMED = 0x01;
export const INVALID = 0x10;
export const OBSOLETE = 0x11;
export const DUPLICATE = 0x12;
export const NONSTANDARD = 0x40;
export const DUST = 0x41;
export const LOW_FEE = 0x42;

export async function nextReject(peer: RawPeer): Promise<Reject> {
  return readReject(await peer.next('reject'));
}
