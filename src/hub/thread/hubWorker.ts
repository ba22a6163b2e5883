/** The program of the hub's thread: serves the clients, and calls the node's thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { yieldIfDue } from '../../scheduler/yield.js';
import { AnswerNotes } from '../link/answerNotes.js';
import { Batches } from '../../threads/batches.js';
import { HubCounters } from '../link/hubCounters.js';
import { HubPeers } from '../protocol/hubPeers.js';
import type { HubMethod } from '../methods/method.js';
import { HUB_METHODS } from '../methods/methodTable.js';
import { HubRpcClient } from '../link/hubRpcClient.js';
import { Callee, answerCall } from '../../threads/callee.js';
import {
  ORDER_ERRORS,
  unpackKeys,
  type HubOrders,
  type HubThreadStart,
  type SearchNote,
  type ToHub,
  type ToNode,
} from '../link/portMessages.js';
import { Sessions } from '../session/sessions.js';
import { HubClaims, NO_CLAIMS } from '../link/hubClaims.js';
import { TipHeader } from '../protocol/tipHeader.js';
import { ClientQueue } from '../../scheduler/clientQueue.js';
import { UnknownConstraints } from '../methods/unknownConstraints.js';
import { reportMemory } from '../../util/threadMemory.js';

/**
 * Maximum number of concurrent calls to the node's thread. Enough to keep the node's thread busy while results are
 * transferred. Arbitrary.
 */
const PLACES = 32;
/** Milliseconds between updates of counters and reports of responses to the node's thread. */
const NOTE_MS = 100;
/** Maximum number of milliseconds for which marking scripts as changed blocks the event loop. */
const SLICE_MS = 4;

reportMemory('hub');
const port = parentPort!;
const start = workerData as HubThreadStart;
const counters = new HubCounters(start.counters);
const turns = new ClientQueue(undefined, PLACES);
const batches: Batches<ToNode> = new Batches<ToNode>(port, () => {
  node.tellWishes();
  return undefined;
});
const node = new HubRpcClient(batches, turns);
const tip = new TipHeader();
const peers = new HubPeers(start.peers);

const notes = new AnswerNotes();
const notified = new Map<string, number>();
let searched: SearchNote[] = [];

function sendNotes(): void {
  const answered = notes.take();
  if (answered.length > 0) batches.add(['answered', answered]);
  for (const [method, count] of notified) batches.add(['notified', method, count]);
  notified.clear();
  if (searched.length > 0) batches.add(['searched', searched]);
  searched = [];
}

const claims =
  start.claims &&
  new HubClaims(start.claims, {
    node,
    counters,
    say: (item) => batches.add(item),
    searched: (tookMs, timedOut) => searched.push([tookMs, timedOut]),
  });

const nodeMethods = start.nodeMethods.map((shape): HubMethod => ({
  ...shape,
  run({ client, turn }, args) {
    const run = () => node.run(client, turn, shape.name, args);
    return shape.waits === true ? turn.outside(run) : run();
  },
}));
const methods = new Map([...HUB_METHODS, ...nodeMethods].map((method) => [method.name, method]));

const warn = (text: string): void => batches.add(['log', 'warn', text]);

const sessions = new Sessions(
  {
    host: start.host,
    port: start.port,
    maxSessions: start.maxSessions,
    timeoutMs: start.timeoutMs,
    ...(start.stallMs === undefined ? {} : { stallMs: start.stallMs }),
  },
  {
    hub: {
      facts: start.facts,
      peers,
      tip,
      node,
      claims: claims ?? NO_CLAIMS,
      warn,
      unknownConstraints: new UnknownConstraints(warn),
    },
    turns,
    counters,
    method: (name) => methods.get(name),
    log: (level, text) => batches.add(['log', level, text]),
    failed: (error, method) => {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      batches.add(['failed', method, message, stack]);
    },
    answered: (method, code, durationMs) => notes.add(method, code, durationMs),
    notified: (method, count) => notified.set(method, (notified.get(method) ?? 0) + count),
    availability: (isAvailable) => batches.add(['available', isAvailable]),
  },
);

const noting = setInterval(() => {
  sendNotes();
  sessions.measure();
  claims?.measure();
}, NOTE_MS);

async function tell(touched: Uint8Array): Promise<void> {
  let since = performance.now();
  for (const key of unpackKeys(touched)) {
    sessions.touch(key);
    since = await yieldIfDue(since, SLICE_MS);
  }
  await sessions.tell();
}

async function close(): Promise<void> {
  clearInterval(noting);
  await sessions.close();
  await claims?.close();
}

const orders: HubOrders = {
  open: () => sessions.open(),
  peer(name, isThere) {
    if (!isThere) peers.remove(name);
    else if (peers.add(name)) void sessions.tell();
  },
  release: () => claims?.release() ?? Promise.resolve(),
  tell,
  close,
};

const callee = new Callee((item, transfer) => batches.add(item, transfer));

/** Runs an operation that the node's thread called, and sends the response. */
function carryOut(id: number, name: keyof HubOrders, args: readonly unknown[]): void {
  const order = orders[name] as (...all: readonly unknown[]) => unknown;
  void answerCall(
    callee,
    callee.begin(id),
    () => order(...args),
    (error) => ORDER_ERRORS.cross(error),
  );
}

function take(item: ToHub): void {
  switch (item[0]) {
    case 'tip':
      return tip.set(item[1], item[2]);
    case 'call':
      return carryOut(item[1], item[2] as keyof HubOrders, item[3]);
    case 'more':
    case 'cancel':
      return callee.receive(item);
    case 'followed':
      return claims?.followed(item[1]);
    case 'waiting':
      return claims?.waits(item[1]);
    case 'waitingGone':
      return claims?.waitsNoMore(item[1]);
    default:
      return node.receive(item);
  }
}

port.on('message', (items: readonly ToHub[]) => {
  // The time before this call is not counted as clients' time.
  turns.lap();
  for (const item of items) take(item);
});
