/** Writes responses to a client in pieces, as fast as it reads them, one response after the other. */
import { jsonChunks, smallJson } from '../../util/json/jsonWrite.js';
import type { LineSocket } from './lineSocket.js';
import { StreamedJson, type HubResult } from '../protocol/hubClient.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** Small pieces are collected up to this length. */
const WRITE_CHARS = 16_384;

export class AnswerWriter {
  private readonly socket: LineSocket;
  private isBusy = false;
  private readonly waiting: (() => void)[] = [];

  constructor(socket: LineSocket) {
    this.socket = socket;
  }

  /** Writes a line if no other writer is active and the client keeps up; else returns false. */
  lineNow(line: string): boolean {
    if (this.isBusy || this.socket.isStalled) return false;
    // The next writer waits until it has been sent.
    void this.socket.write(line);
    return true;
  }

  /** Runs `write` while no other caller writes to this client. It gives up its turn while it waits. */
  async exclusively<T>(turn: Turn, write: () => Promise<T>): Promise<T> {
    if (this.isBusy) await turn.outside(() => new Promise<void>((resolve) => this.waiting.push(resolve)));
    this.isBusy = true;
    try {
      return await write();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.isBusy = false;
    }
  }

  /** Within `exclusively`. */
  async text(turn: Turn, text: string): Promise<void> {
    const wait = this.socket.write(text);
    if (wait !== null) await turn.outside(() => wait);
  }

  /** A result between two texts. Throws if a lazy part fails; the client has then received an incomplete response. */
  async result(turn: Turn, before: string, result: HubResult, behind: string): Promise<void> {
    const small = result instanceof StreamedJson ? null : smallJson(result);
    if (small !== null) return this.text(turn, before + small + behind);
    const pieces = result instanceof StreamedJson ? result.pieces : jsonChunks(result);
    let text = before;
    for await (const piece of pieces) {
      // An early return releases the resources of the pieces.
      if (this.socket.isGone) return;
      text += piece;
      if (text.length >= WRITE_CHARS) {
        await this.text(turn, text);
        text = '';
      }
      const pause = turn.yieldIfDue();
      if (pause !== null) await pause;
    }
    await this.text(turn, text + behind);
  }
}
