/**
 * The node under test and the scripted peers that talk to it. The node may be a reference node: what is expected of ours
 * can so be seen to be what that does. One port is for anyone, one for whitelisted peers, which are notified of
 * transactions at once and not sent away.
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

/** `reference` is the path of the reference's binary; without one our own node is started. */
export async function startSubject(reference?: string, args: readonly string[] = []): Promise<Subject> {
  const trustedPort = await freePort();
  // What is not standard is refused as on the main network; and no one is connected to whom a peer reports.
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

/** What more is looked at of a peer. */
export interface PeerView extends PeerInfo {
  subver: string;
  relaytxes: boolean;
  addnode: boolean;
  services: string;
  startingheight: number;
  minfeefilter: number;
}

export class Stage {
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

  /** A connection on which nothing was said. */
  async open(): Promise<RawPeer> {
    return this.keep(await RawPeer.open(this.subject.port));
  }
  async greet(fields?: VersionFields): Promise<RawPeer> {
    return this.keep(await RawPeer.greet(this.subject.port, fields));
  }
  async greetTrusted(fields?: VersionFields): Promise<RawPeer> {
    return this.keep(await RawPeer.greet(this.subject.trustedPort, fields));
  }

  /** Ends what a test began. */
  async clear(): Promise<void> {
    for (const peer of this.peers.splice(0)) peer.close();
    await until('nobody there', async () => (await this.rpc<unknown[]>('getpeerinfo')).length === 0);
  }

  async infoOf(peer: RawPeer): Promise<PeerView | undefined> {
    return (await this.rpc<PeerView[]>('getpeerinfo')).find(({ addr }) => addr === peer.address);
  }

  /** Once everything was handled that the peer said, it has so many points and is still there. */
  async expectScore(peer: RawPeer, points: number): Promise<void> {
    await peer.handled();
    expect((await this.infoOf(peer))?.banscore).toBe(points);
  }

  async expectSentAway(peer: RawPeer): Promise<void> {
    await peer.closed();
    await until('nobody there', async () => (await this.infoOf(peer)) === undefined);
  }

  /** Id of a coinbase of one coin that may be spent, each time another. */
  async coin(): Promise<Buffer> {
    return hashOf(await coinbaseAt(this, ++this.spent));
  }

  /** A transaction that may enter the mempool, of 1,000 satoshis more or less in fees. */
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
   * Blocks with times an hour ahead: those that follow lie ahead too, and for so long the node counts as in sync with
   * the network (it would not twenty seconds after the last block).
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

/** What a node says of its own accord when a connection is young, and whenever it likes. */
const INITIATIVES = ['getheaders', 'feefilter', 'addr', 'sendheaders', 'sendcmpct'];

/** The commands of messages that are answers. */
export const answersAmong = (messages: readonly RawMessage[]): string[] =>
  messages.map(({ command }) => command).filter((command) => !INITIATIVES.includes(command));

/** The reject messages among others. */
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
