import type { CorruptedNode } from './runner.js';

/** Time after which filling an index counts as hanging. */
const FILLING_MS = 120_000;

export interface Progress {
  readonly synced: boolean;
  readonly failure?: string;
}

/** Resolves when all indexes are at the tip or report why they are not. */
export async function untilIndexed(node: CorruptedNode): Promise<void> {
  for (const deadline = Date.now() + FILLING_MS; Date.now() < deadline;) {
    const [all, claims] = await node.ask([
      ['getindexinfo', []],
      ['getclaimindexinfo', []],
    ]);
    const { search, ...own } = (claims!.result ?? {}) as Progress & { search: Progress };
    const parts = [...Object.values((all!.result ?? {}) as Record<string, Progress>), own, search];
    if (claims!.error !== null || parts.every((part) => part.synced || part.failure !== undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
