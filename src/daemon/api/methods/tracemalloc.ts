/**
 * Memory allocations, from V8's sampling profiler. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_tracemalloc_*`,
 * which use Python's tracer.
 */
import { Session } from 'node:inspector';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { failure } from '../../base/daemonError.js';
import { tracemallocDisable, tracemallocEnable, tracemallocTop } from '../declarations/tracemalloc.js';
import { implement, type MethodImplementation } from '../implement.js';

let session: Session | null = null;

/** A profile returned by V8. Node's type declarations omit the samples. */
interface Profile {
  readonly head: ProfileNode;
  readonly samples: readonly { readonly nodeId: number }[];
}
interface ProfileNode {
  readonly id: number;
  readonly selfSize: number;
  readonly children: readonly ProfileNode[];
  readonly callFrame: { readonly url: string; readonly lineNumber: number; readonly functionName: string };
}

/** Memory that was allocated at one source line: bytes and number of samples. */
interface Place {
  readonly line: string;
  readonly code: string;
  size: number;
  count: number;
}

/** Sums of live allocations by place in the code, sorted from the largest. */
function sumUp({ head, samples }: Profile): Place[] {
  const samplesOf = new Map<number, number>();
  for (const { nodeId } of samples) samplesOf.set(nodeId, (samplesOf.get(nodeId) ?? 0) + 1);
  const places = new Map<string, Place>();
  const nodes = [head];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    nodes.push(...node.children);
    if (node.selfSize === 0) continue;
    const { url, lineNumber, functionName } = node.callFrame;
    const line = `${url}:${lineNumber + 1}`;
    const place = places.get(line) ?? { line, code: functionName, size: 0, count: 0 };
    place.size += node.selfSize;
    place.count += samplesOf.get(node.id) ?? 0;
    places.set(line, place);
  }
  return [...places.values()].sort((a, b) => b.size - a.size);
}

function profileOf(running: Session): Promise<Profile> {
  return new Promise((resolve, reject) => {
    running.post('HeapProfiler.getSamplingProfile', (error, answer) =>
      error ? reject(error) : resolve(answer.profile as unknown as Profile),
    );
  });
}

export const tracemallocMethods: readonly MethodImplementation[] = [
  implement(tracemallocEnable, () => {
    if (session === null) {
      session = new Session();
      session.connect();
      session.post('HeapProfiler.startSampling');
    }
    return true;
  }),
  implement(tracemallocDisable, () => {
    session?.post('HeapProfiler.stopSampling');
    session?.disconnect();
    session = null;
    return false;
  }),
  implement(tracemallocTop, async (_context, { items }): Promise<JsonOut> => {
    if (session === null) throw failure('Enable tracemalloc before trying to get stats.');
    return sumUp(await profileOf(session))
      .slice(0, Math.max(0, items))
      .map((place) => ({ ...place }));
  }),
];
