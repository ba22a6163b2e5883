/** Client of the content database, which runs in a separate thread. */
import { daemonDatabase } from '../base/threadCalls.js';
import { remoteOf, type Remote } from '../../threads/protocol.js';
import type { ContentStore, ContentStoreOptions } from './contentStore.js';
import type { PeerRow } from './rows.js';

type Calls = Omit<ContentStore, 'close' | 'notice'>;

/** Remote calls of `ContentStore`, which runs in the thread of the database. */
export type ContentDatabase = Remote<Calls> & { close(): Promise<void> };

const METHODS = [
  'addBlobs',
  'setPending',
  'reconcile',
  'forgetBlobs',
  'endDeletion',
  'doomedBlobs',
  'noteChecked',
  'blobCheck',
  'blobChecks',
  'announceSoon',
  'alwaysAnnounce',
  'dueForAnnouncement',
  'noteAnnounced',
  'diskUsage',
  'removableContent',
  'removableNetwork',
  'removeStream',
  'blobsOnlyOf',
  'addStream',
  'isLibraryLost',
  'endRebuild',
  'beginMaking',
  'endMaking',
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
  'playable',
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
  'saveResolved',
  'tieClaim',
  'finishedCount',
  'pin',
  'unpin',
  'pins',
  'streamsToReflect',
  'isReflected',
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
/** The compiler checks that the list has every call of the store. */
const isComplete: [Missing] extends [never] ? true : never = true;

/** Opens the database in a thread. If that fails, each call rejects with `EnvironmentError`. */
export function openContentDatabase(
  options: ContentStoreOptions,
  warn: (text: string) => void,
): ContentDatabase {
  const thread = daemonDatabase({
    program: ['daemon', 'content', 'contentProgram.js'],
    data: options,
    title: 'The content database',
    onNotice: warn,
  });
  const calls = remoteOf<Calls>(METHODS, (method, args) => thread.call(method, args));
  return isComplete && { ...calls, close: () => thread.close() };
}

/** Stores the DHT peers for the next start of the node. */
export interface PeerStore {
  load(): Promise<readonly PeerRow[]>;
  /** Replaces all stored peers by these peers. */
  save(peers: readonly PeerRow[]): Promise<void>;
}

export const peerStoreOf = (database: Pick<ContentDatabase, 'loadPeers' | 'savePeers'>): PeerStore => ({
  load: () => database.loadPeers(),
  save: (peers) => database.savePeers(peers),
});
