/**
 * What RPC methods may ask of the node: one narrow interface, filled by the composition root. Each part names what a
 * group of methods needs and no more; a method reaches it as `ctx.services.<part>`. Add a part when a method needs one.
 */
import type { LogControl } from '../util/logging.js';

export interface RpcServices {
  readonly lifecycle: LifecycleService;
  readonly logging: LogControl;
}

/** Starting and stopping the node. */
export interface LifecycleService {
  /** When the process started, on the real clock. */
  readonly startTimeSec: number;
  /** Begins a clean stop; returns at once, so that the answer still gets out. */
  requestStop(): void;
}
