/**
 * Answers since the last report: like answers are one note with their number, so that a flood of small
 * requests costs the receiver next to nothing.
 */

/** Requests that were answered alike: their method, the code of their error or null, how long each took, and how many. */
export type AnsweredNote = readonly [method: string, code: number | null, durationMs: number, count: number];

/** Digits of a duration that count. */
const DIGITS = 2;

export class AnswerNotes {
  private readonly counts = new Map<string, { readonly note: AnsweredNote; count: number }>();

  add(method: string, code: number | null, durationMs: number): void {
    const rounded = Number(durationMs.toPrecision(DIGITS));
    const key = `${method} ${code} ${rounded}`;
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { note: [method, code, rounded, 1], count: 1 });
    else known.count++;
  }

  /** Takes the notes since the last call. */
  take(): AnsweredNote[] {
    const notes = [...this.counts.values()].map(
      ({ note: [method, code, durationMs], count }): AnsweredNote => [method, code, durationMs, count],
    );
    this.counts.clear();
    return notes;
  }
}
