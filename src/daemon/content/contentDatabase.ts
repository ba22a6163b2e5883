/** The content database from outside of its thread. */
import { CallThread } from '../../util/callThread.js';
import type { Transferred } from '../../util/serveCalls.js';
import type { ContentStore, ContentStoreOptions } from './contentStore.js';
import type { PeerRow } from './rows.js';

type Calls = Omit<ContentStore, 'close' | 'notice'>;

type Answer<Result> = Result extends Transferred<infer Value> ? Value : Result;

/** The calls of `ContentStore`, answered by its thread. */
export type ContentDatabase = {
  readonly [Name in keyof Calls]: (
    ...args: Parameters<Calls[Name]>
  ) => Promise<Answer<ReturnType<Calls[Name]>>>;
} & { close(): Promise<void> };

const METHODS = [
  'addBlobs',
  'setPending',
  'reconcile',
  'forgetBlobs',
  'endDeletion',
  'noteChecked',
  'announceSoon',
  'alwaysAnnounce',
  'dueForAnnouncement',
  'noteAnnounced',
  'diskUsage',
  'removableContent',
  'removableNetwork',
  'removeStream',
  'addStream',
  'isLibraryLost',
  'endRebuild',
  'noteUnsynced',
  'noteSynced',
  'unsynced',
  'ofNoStream',
  'streamsWithoutFile',
  'setOwn',
  'originals',
  'noteOriginal',
  'removeOriginal',
  'streamKey',
  'streamHashOf',
  'sdHashOf',
  'sdHashesOfFiles',
  'sdHashesOf',
  'blobsOfStream',
  'streamSize',
  'setStreamSize',
  'file',
  'fileCount',
  'searchFiles',
  'searchStreams',
  'filesWithoutClaim',
  'forgetLostOutputs',
  'addFile',
  'setFileStatus',
  'setFilePlace',
  'setContentFee',
  'saveClaims',
  'tieClaim',
  'finishedCount',
  'pin',
  'unpin',
  'pins',
  'streamsToReflect',
  'isReflected',
  'streamsOfFiles',
  'noteReflected',
  'withheldBlobs',
  'completedWith',
  'orphans',
  'openOffsite',
  'noteWaiting',
  'noteStored',
  'dueUploads',
  'noteFound',
  'ofKnownStreams',
  'keepFinished',
  'loseOffsite',
  'waitAgain',
  'noteUsed',
  'ownOffsiteBytes',
  'loadPeers',
  'savePeers',
] as const satisfies readonly (keyof Calls)[];

type Missing = Exclude<keyof Calls, (typeof METHODS)[number]>;
/** No call of the store may be left out of the list. */
const isComplete: [Missing] extends [never] ? true : never = true;

/** Opens the database in a thread. Each call rejects with `EnvironmentError` where it cannot be opened. */
export function openContentDatabase(
  options: ContentStoreOptions,
  warn: (text: string) => void,
): ContentDatabase {
  const thread = new CallThread({
    program: ['daemon', 'content', 'contentWorker.js'],
    data: options,
    title: 'The content database',
    onNotice: warn,
  });
  const calls = METHODS.map((name) => [name, (...args: unknown[]) => thread.call(name, args)]);
  return isComplete && { ...(Object.fromEntries(calls) as ContentDatabase), close: () => thread.close() };
}

/** Stores the DHT's peers over restarts. */
export interface PeerStore {
  load(): Promise<readonly PeerRow[]>;
  /** Puts these in place of all. */
  save(peers: readonly PeerRow[]): Promise<void>;
}

export const peerStoreOf = (database: Pick<ContentDatabase, 'loadPeers' | 'savePeers'>): PeerStore => ({
  load: () => database.loadPeers(),
  save: (peers) => database.savePeers(peers),
});
