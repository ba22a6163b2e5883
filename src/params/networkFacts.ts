/**
 * Facts about a network that change over time: its servers, and blocks known to be valid. Stored in
 * `data/networks/<network>.json` with source and date, so that a release can update them without code changes. Lists begin
 * with servers that maintained programs name, and end with servers that only older lists name.
 */
import { readFileSync } from 'node:fs';
import { hashFromHex, type Bytes } from '../util/bytes.js';
import { projectFile } from '../util/project.js';

const HASH_BYTES = 32;

interface Sourced {
  /** Repository and file from which the fact was taken. */
  readonly source: string;
  /** Date of the source: a day or a month. */
  readonly date: string;
}

interface HostFact extends Sourced {
  readonly host: string;
}

export interface ServerFact extends HostFact {
  readonly port: number;
}

interface FactsFile {
  readonly minimumChainWork: Sourced & { readonly work: string };
  readonly assumeValid: Sourced & { readonly hash: string };
  readonly snapshots?: readonly (Sourced & {
    readonly height: number;
    readonly block: string;
    readonly hash: string;
  })[];
  readonly checkpoints?: readonly (Sourced & { readonly height: number; readonly hash: string })[];
  readonly headerChunks?: Sourced & { readonly file: string };
  readonly dnsSeeds: readonly HostFact[];
  readonly peers: readonly ServerFact[];
  readonly hubs?: readonly ServerFact[];
  readonly dhtNodes?: readonly ServerFact[];
  readonly reflectors?: readonly ServerFact[];
  readonly blobPeers?: readonly ServerFact[];
  readonly httpBlobServers?: readonly (Sourced & { readonly url: string })[];
  readonly trackers?: readonly ServerFact[];
}

const factsFile = (name: string): string => projectFile('data', 'networks', name);

/** Reads the facts of the network `main` or `test`. */
export function networkFacts(network: 'main' | 'test'): FactsFile {
  return JSON.parse(readFileSync(factsFile(`${network}.json`), 'utf8')) as FactsFile;
}

/** Converts servers to pairs of host and port, in order. */
export const hostPorts = (servers: readonly ServerFact[] = []): (readonly [host: string, port: number])[] =>
  servers.map(({ host, port }) => [host, port]);

/** Computes the network parameters that are derived from the facts file. */
export function paramsOfFacts(facts: FactsFile): {
  minimumChainWork: bigint;
  assumeValid: Buffer;
  snapshots: { height: number; block: string; hash: string }[];
  checkpoints: { height: number; hash: Bytes }[];
  headerChunks: () => Buffer;
  dnsSeeds: string[];
  fixedSeeds: { host: string; port: number }[];
} {
  let chunks: Buffer | null = null;
  return {
    minimumChainWork: BigInt(`0x${facts.minimumChainWork.work}`),
    assumeValid: hashFromHex(facts.assumeValid.hash),
    snapshots: (facts.snapshots ?? []).map(({ height, block, hash }) => ({ height, block, hash })),
    checkpoints: (facts.checkpoints ?? []).map(({ height, hash }) => ({ height, hash: hashFromHex(hash) })),
    headerChunks: () => (chunks ??= readHeaderChunks(facts)),
    dnsSeeds: facts.dnsSeeds.map(({ host }) => host),
    fixedSeeds: facts.peers.map(({ host, port }) => ({ host, port })),
  };
}

/**
 * Reads the header chunk hashes: 32 bytes each, wire order, concatenated. Empty if none are known. Throws for a malformed
 * file.
 */
function readHeaderChunks({ headerChunks }: FactsFile): Buffer {
  if (headerChunks === undefined) return Buffer.alloc(0);
  const lines = readFileSync(factsFile(headerChunks.file), 'utf8').trimEnd().split('\n');
  const hashes = lines.map((line) => hashFromHex(line));
  if (hashes.some((hash) => hash.length !== HASH_BYTES))
    throw new Error(`${headerChunks.file} must hold one hash of ${HASH_BYTES} bytes in each line`);
  return Buffer.concat(hashes);
}
