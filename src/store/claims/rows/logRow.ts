/**
 * The log of one block: its changes to items, takeover heights and snapshots, in order. Disconnecting a block reverts the
 * events from the end of its log. The expiration uses the log to find the items (claims and supports) that a block created.
 * `getchangesinblock` reads the log. An event identifies an item by name, `since` and ordinal, which are also in the item's
 * row. Events of the normalization fork also contain the outpoint, because the fork moves many items, whose rows are then
 * found by key. A long log is divided into chunks, each with its own table of names.
 */
import type { WorkEvent } from '../../../claimtrie/claimWork.js';
import type { Bytes } from '../../../util/bytes.js';
import { isPromise } from '../../../util/maybePromise.js';
import { manyOf, type RowReader } from '../../rows/rows.js';
import { logKey } from './claimKeys.js';
import { readPoint, writePoint } from './nameRow.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

export interface ItemRef {
  name: string;
  since: number;
  ordinal: number;
}

export type LogEvent =
  | {
      op: 'create' | 'spend' | 'expire' | 'activate';
      ref: ItemRef;
      isSupport: boolean;
      /** For `create`: whether the item (claim or support) became active in the block that created it. */
      active: boolean;
    }
  | { op: 'refile'; ref: ItemRef; to: ItemRef; isSupport: boolean; point: string }
  | { op: 'takeover'; name: string; before: number }
  | { op: 'snapshot'; name: string; before: number };

const OPS = ['create', 'spend', 'expire', 'activate', 'refile', 'takeover', 'snapshot'] as const;
const OP_MASK = 7;
const FLAG_SUPPORT = 8;
const FLAG_ACTIVE = 16;
const FLAG_NUMBERED = 32;

/** Size in bytes at which a chunk ends and a new one begins. */
const CHUNK_BYTES = 32 << 10;

export class LogWriter {
  private readonly height: number;
  private readonly encoder = new RowEncoder();
  private names = new Map<string, number>();
  private readonly emit: (chunk: Buffer) => void;

  constructor(height: number, emit: (chunk: Buffer) => void) {
    this.height = height;
    this.emit = emit;
  }

  add(event: WorkEvent): void {
    const out = this.encoder;
    const op = OPS.indexOf(event.op);
    if (event.op === 'takeover' || event.op === 'snapshot') {
      out.byte(op);
      this.name(event.name);
      out.number(event.before);
    } else {
      const { item } = event;
      const ordinal = event.op === 'refile' ? event.to.ordinal : item.ordinal;
      out.byte(
        op |
          (item.kind === 'support' ? FLAG_SUPPORT : 0) |
          (event.op === 'create' && item.activated !== 0 ? FLAG_ACTIVE : 0) |
          (item.ordinal !== 0 || ordinal !== 0 ? FLAG_NUMBERED : 0),
      );
      this.name(item.name);
      if (event.op !== 'create') out.number(this.height - item.since);
      if (item.ordinal !== 0 || ordinal !== 0) out.number(item.ordinal);
      if (event.op === 'refile') {
        this.name(event.to.name);
        if (item.ordinal !== 0 || ordinal !== 0) out.number(ordinal);
        writePoint(out, item.point);
      }
    }
    if (out.size >= CHUNK_BYTES) this.finish();
  }

  private name(name: string): void {
    const known = this.names.get(name);
    this.encoder.number(known ?? this.names.size);
    if (known !== undefined) return;
    this.names.set(name, this.names.size);
    this.encoder.string(name);
  }

  /** Writes the last chunk of the log. */
  finish(): void {
    if (this.encoder.size === 0) return;
    this.emit(this.encoder.finish());
    this.names = new Map();
  }
}

export function parseLogChunk(height: number, chunk: Bytes): LogEvent[] {
  const input = new RowDecoder(chunk);
  const names: string[] = [];
  const name = (): string => {
    const at = input.number();
    if (at === names.length) names.push(input.string());
    return names[at]!;
  };
  const events: LogEvent[] = [];
  while (!input.done) {
    const header = input.byte();
    const op = OPS[header & OP_MASK]!;
    if (op === 'takeover' || op === 'snapshot') {
      const of = name();
      events.push({ op, name: of, before: input.number() });
      continue;
    }
    const isSupport = (header & FLAG_SUPPORT) !== 0;
    const numbered = (header & FLAG_NUMBERED) !== 0;
    const of = name();
    const since = op === 'create' ? height : height - input.number();
    const ref = { name: of, since, ordinal: numbered ? input.number() : 0 };
    if (op === 'refile') {
      const target = name();
      const to = { name: target, since: height, ordinal: numbered ? input.number() : 0 };
      events.push({ op, ref, to, isSupport, point: readPoint(input) });
    } else {
      events.push({ op, ref, isSupport, active: (header & FLAG_ACTIVE) !== 0 });
    }
  }
  return events;
}

/** Reads all events of a block, in order. Empty if the block changed nothing. */
export function readLog(rows: RowReader, height: number): Promise<LogEvent[]> {
  return readLogUntil(rows, height, null);
}

/** The events of a block that precede the first event of type `op`. */
export async function readLogUntil(
  rows: RowReader,
  height: number,
  end: LogEvent['op'] | null,
): Promise<LogEvent[]> {
  const events: LogEvent[] = [];
  for (let number = 0; ; number++) {
    const read = manyOf(rows, [logKey(height, number)]);
    const [chunk] = isPromise(read) ? await read : read;
    if (!chunk) return events;
    for (const event of parseLogChunk(height, chunk)) {
      if (event.op === end) return events;
      events.push(event);
    }
    if (chunk.length < CHUNK_BYTES) return events;
  }
}

/** Number of chunks of the log of a block. */
export async function countLogChunks(rows: RowReader, height: number): Promise<number> {
  for (let count = 0; ; count++) {
    const chunk = await rows.get(logKey(height, count));
    if (!chunk) return count;
    if (chunk.length < CHUNK_BYTES) return count + 1;
  }
}
