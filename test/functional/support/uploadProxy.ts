/**
 * A link to a reflector that is cut at places that a test selects. It reads the protocol on the way, and counts how often each
 * blob begins and passes as a whole.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * Where the link is cut: before the greeting; after the offer of a descriptor or of a blob, so that the answer is lost; after
 * this fraction of the bytes of a data blob; after its last byte, so that the acknowledgement is lost; or after the
 * acknowledgement.
 */
export type Cut = 'greeting' | 'descriptor' | 'offer' | number | 'last byte' | 'acknowledged';

interface Offer {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly isDescriptor: boolean;
}

/** One connection: bytes from the client, and answers of the reflector. */
class UploadLine {
  readonly near: Socket;
  readonly far: Socket;
  private readonly proxy: UploadProxy;
  private text = '';
  private answer = '';
  private offer: Offer | null = null;
  /** Remaining bytes of the offered blob; null while messages are expected. */
  private leftBytes: number | null = null;

  constructor(proxy: UploadProxy, near: Socket, far: Socket) {
    [this.proxy, this.near, this.far] = [proxy, near, far];
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
    near.on('data', (bytes) =>
      this.leftBytes === null ? this.request(bytes as Buffer) : this.blob(bytes as Buffer),
    );
    far.on('data', (bytes) => this.response(bytes as Buffer));
  }

  /** A client sends one request and waits for the answer. */
  private request(bytes: Buffer): void {
    this.text += bytes.toString('latin1');
    if (!this.text.endsWith('}')) return;
    const message = JSON.parse(this.text) as Record<string, string | number>;
    const text = Buffer.from(this.text, 'latin1');
    this.text = '';
    if ('version' in message && this.proxy.cutsAt('greeting')) return;
    const isDescriptor = 'sd_blob_hash' in message;
    if (isDescriptor || 'blob_hash' in message) {
      const [hash, size] = isDescriptor
        ? [message['sd_blob_hash'], message['sd_blob_size']]
        : [message['blob_hash'], message['blob_size']];
      this.offer = { hash: String(hash), sizeBytes: Number(size), isDescriptor };
    }
    this.far.write(text);
    if (this.offer !== null) this.proxy.cutsAt(isDescriptor ? 'descriptor' : 'offer');
  }

  private response(bytes: Buffer): void {
    this.answer += bytes.toString('latin1');
    this.near.write(bytes);
    if (!this.answer.endsWith('}')) return;
    const message = JSON.parse(this.answer) as Record<string, unknown>;
    this.answer = '';
    const { proxy, offer } = this;
    if (offer === null) return;
    if (message['send_sd_blob'] === true || message['send_blob'] === true) {
      this.leftBytes = offer.sizeBytes;
      proxy.begun.set(offer.hash, (proxy.begun.get(offer.hash) ?? 0) + 1);
    } else if ('received_blob' in message) proxy.cutsAt('acknowledged');
  }

  private blob(bytes: Buffer): void {
    const { proxy, offer } = this;
    const { hash, sizeBytes, isDescriptor } = offer!;
    const passed = sizeBytes - this.leftBytes!;
    const at = isDescriptor ? null : proxy.fraction;
    const cutBytes = at === null ? Infinity : Math.floor(sizeBytes * at) - passed;
    if (cutBytes <= bytes.length) {
      this.far.write(bytes.subarray(0, Math.max(0, cutBytes)));
      proxy.cutsAt(at!);
      return;
    }
    this.far.write(bytes);
    this.leftBytes! -= bytes.length;
    if (this.leftBytes! > 0) return;
    this.leftBytes = null;
    proxy.whole.set(hash, (proxy.whole.get(hash) ?? 0) + 1);
    if (!isDescriptor) proxy.cutsAt('last byte');
  }
}

export class UploadProxy {
  /** The remaining cuts, in order. */
  readonly cuts: Cut[];
  /** By hash: how often its bytes started to pass, and how often all of them passed. */
  readonly begun = new Map<string, number>();
  readonly whole = new Map<string, number>();
  private readonly server: Server;
  private readonly lines = new Set<UploadLine>();

  private constructor(reflectorPort: number, cuts: readonly Cut[]) {
    this.cuts = [...cuts];
    this.server = createServer({ noDelay: true }, (near) => {
      const line = new UploadLine(
        this,
        near,
        connect({ port: reflectorPort, host: '127.0.0.1', noDelay: true }),
      );
      this.lines.add(line);
      near.on('close', () => this.lines.delete(line));
    });
  }

  static async start(reflectorPort: number, cuts: readonly Cut[]): Promise<UploadProxy> {
    const proxy = new UploadProxy(reflectorPort, cuts);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The fraction of a blob at which the next cut is; null for another kind of cut. */
  get fraction(): number | null {
    const [next] = this.cuts;
    return typeof next === 'number' ? next : null;
  }

  /** Closes all connections of the link if the next cut is `here`. Forwarded bytes arrive; answers are lost. */
  cutsAt(here: Cut): boolean {
    if (this.cuts[0] !== here) return false;
    this.cuts.shift();
    for (const { near, far } of this.lines) {
      near.destroy();
      far.end();
    }
    return true;
  }

  async stop(): Promise<void> {
    for (const { near, far } of this.lines) {
      near.destroy();
      far.destroy();
    }
    await new Promise((resolve) => this.server.close(resolve));
  }
}
