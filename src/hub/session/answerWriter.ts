/**
 * Writes responses to a client, one after the other. Each response is written in pieces, at the speed at which the client
 * reads.
 */
import { jsonChunks } from '../../util/json/jsonStream.js';
import { smallJson } from '../../util/json/jsonWrite.js';
import type { LineSocket } from './lineSocket.js';
import { StreamedJson, type HubResult } from '../protocol/hubClient.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** Maximum number of characters up to which small pieces are combined into one write. */
const WRITE_CHARS = 16_384;

export class AnswerWriter {
  private readonly socket: LineSocket;
  private isBusy = false;
  private readonly waiting: (() => void)[] = [];

  constructor(socket: LineSocket) {
    this.socket = socket;
  }

  /**
   * Writes a line if no response is being written and the client has read all earlier data. Otherwise returns false without
   * writing.
   */
  lineNow(line: string): boolean {
    if (this.isBusy || this.socket.isStalled) return false;
    // The result is not awaited, because the next write waits until this line has been sent.
    void this.socket.write(line);
    return true;
  }

  /**
   * Runs `write` while no other caller writes to this client. While the caller waits for that, other work of the client may
   * run (`turn.outside`).
   */
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

  /** Writes a part of a response. May only be called by a task of `exclusively`. */
  async text(turn: Turn, text: string): Promise<void> {
    const wait = this.socket.write(text);
    if (wait !== null) await turn.outside(() => wait);
  }

  /**
   * Writes a result with the given texts before and after it. Rejects if a streamed piece fails; the client has then
   * received an incomplete response.
   */
  async result(turn: Turn, before: string, result: HubResult, behind: string): Promise<void> {
    const small = result instanceof StreamedJson ? null : smallJson(result);
    if (small !== null) return this.text(turn, before + small + behind);
    const pieces = result instanceof StreamedJson ? result.pieces : jsonChunks(result);
    let text = before;
    for await (const piece of pieces) {
      // This return ends the iteration, which releases the resources of the pieces.
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
