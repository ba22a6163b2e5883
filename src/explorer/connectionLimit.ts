/** Limits the number of connections of the explorer, in total and for one visitor. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { visitorOf } from './limits.js';

export interface ConnectionLimitOptions {
  /** Maximum number of connections, without those that `uncounted` counts. */
  readonly max: number;
  /** Maximum number of connections of one visitor: an IPv4 address, or a /64 network of IPv6. */
  readonly maxOfVisitor: number;
  /** Whether many visitors may share the remote address, as behind a proxy. Only `max` limits such an address. */
  readonly isShared: (address: string) => boolean;
  /** Returns the number of open connections that another limit covers. */
  readonly uncounted: () => number;
}

/** Closes new connections of a server that exceed the limits. */
export class ConnectionLimit {
  private readonly options: ConnectionLimitOptions;
  private readonly byVisitor = new Map<string, number>();
  private count = 0;

  constructor(server: Pick<Server, 'on'>, options: ConnectionLimitOptions) {
    this.options = options;
    server.on('connection', (socket: Socket) => this.add(socket));
  }

  private add(socket: Socket): void {
    const { max, maxOfVisitor, isShared, uncounted } = this.options;
    const address = socket.remoteAddress ?? '';
    const visitor = isShared(address) ? null : visitorOf(address);
    const known = visitor === null ? 0 : (this.byVisitor.get(visitor) ?? 0);
    if (this.count - uncounted() >= max || known >= maxOfVisitor) return void socket.destroy();
    this.count++;
    if (visitor !== null) this.byVisitor.set(visitor, known + 1);
    socket.once('close', () => this.remove(visitor));
  }

  private remove(visitor: string | null): void {
    this.count--;
    if (visitor === null) return;
    const left = this.byVisitor.get(visitor)! - 1;
    if (left === 0) this.byVisitor.delete(visitor);
    else this.byVisitor.set(visitor, left);
  }
}
