/**
 * Counts responses since the last report. Equal responses are one note with a count, so that a flood of small requests costs
 * the receiver little.
 */

/** Requests with equal responses: method, error code or null, duration of each, and count. */
export type AnsweredNote = readonly [method: string, code: number | null, durationMs: number, count: number];

/** Significant digits of a duration. */
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
