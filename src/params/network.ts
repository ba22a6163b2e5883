/**
 * The parameters in which the networks of the chain differ. Defines types and the constants of version-bit deployments; the
 * values are in `main.ts`, `test.ts`, `regtest.ts`. Source: lbrycrd `CChainParams`, `CBaseChainParams`, `Consensus::Params`.
 */
import type { Bytes } from '../util/bytes.js';
import type { GenesisBlock } from './genesis.js';

export type NetworkName = 'main' | 'test' | 'regtest';

/** Order matters: it is the order of Core's `DeploymentPos`, in which RPC results list them. */
export const DEPLOYMENT_IDS = ['testdummy', 'csv', 'segwit'] as const;

export type DeploymentId = (typeof DEPLOYMENT_IDS)[number];

/** A deployment with this start is active from genesis on. Source: `BIP9Deployment::ALWAYS_ACTIVE`. */
export const ALWAYS_ACTIVE = -1n;

/** The largest signed 64-bit number; RPC prints it unchanged. Source: `BIP9Deployment::NO_TIMEOUT`. */
export const NO_TIMEOUT = 0x7fffffffffffffffn;

/** One BIP9 deployment. The times are compared with median times past and are bigint because of `NO_TIMEOUT`. */
export interface Deployment {
  /** Position in the block version, 0 to 28. */
  readonly bit: number;
  readonly startTimeSec: bigint;
  readonly timeoutSec: bigint;
}

/** Heights at which the rules of claims change, as heights of the block being connected. */
export interface ClaimForks {
  /** Lifetime of a claim or support in blocks, before and after the extension fork. */
  readonly originalExpiration: number;
  readonly extendedExpiration: number;
  readonly extendedExpirationForkHeight: number;
  readonly normalizationForkHeight: number;
  /** Exclusive limits of the takeover workaround; -1 and -1 disable it. */
  readonly takeoverWorkaroundMin: number;
  readonly takeoverWorkaroundMax: number;
  readonly allClaimsForkHeight: number;
}

/** Version bytes of base58 strings. */
export interface Base58Prefixes {
  readonly pubkeyHash: Bytes;
  readonly scriptHash: Bytes;
  readonly secretKey: Bytes;
  readonly extPublic: Bytes;
  readonly extSecret: Bytes;
}

/** A parent whose height is in [minHeight, maxHeight) may be followed by a block of minimum difficulty. */
export interface MinDifficultyRange {
  readonly minHeight: number;
  readonly maxHeight: number;
}

export interface Checkpoint {
  readonly height: number;
  /** Block id, wire order. */
  readonly hash: Bytes;
}

export interface SeedAddress {
  readonly host: string;
  readonly port: number;
}

/** A known number of transactions at a point in time, to estimate progress. Source: `ChainTxData`. */
export interface ChainTxData {
  readonly timeSec: number;
  readonly txCount: number;
  readonly txPerSec: number;
}

export interface NetworkParams {
  readonly name: NetworkName;
  /** The reference's name of the network: in the configuration file and in the result of `getblockchaininfo`. */
  readonly referenceName: 'lbrycrd' | 'lbrycrdtest' | 'lbrycrdreg';
  /** Folder below the data folder; empty for main. */
  readonly dataFolder: string;
  /** Four bytes at the start of each P2P message and of each block in a block file. */
  readonly magic: Buffer;
  readonly p2pPort: number;
  readonly rpcPort: number;

  readonly genesis: GenesisBlock;
  /** Wire order. */
  readonly genesisHash: Buffer;

  /** Maximum target of a block. */
  readonly powLimit: bigint;
  readonly powLimitBits: number;
  readonly targetSpacingSec: number;
  readonly targetTimespanSec: number;
  readonly minDifficultyRange: MinDifficultyRange | null;
  readonly noRetargeting: boolean;
  /** Blocks per step of the subsidy's decline. Source: `nSubsidyLevelInterval`. */
  readonly subsidyLevelInterval: number;

  readonly claimForks: ClaimForks;

  /** Activation height of BIP141, BIP143 and BIP147; version bits have no effect on it here. Source: `nWitnessForkHeight`. */
  readonly segwitHeight: number;
  /** The one block without P2SH, wire order; it is a block of Bitcoin and does not exist on this chain. */
  readonly bip16Exception: Buffer | null;
  readonly bip34Height: number;
  /** Block id at `bip34Height`, wire order. Descendants of this block skip the BIP30 check. */
  readonly bip34Hash: Buffer | null;
  readonly bip65Height: number;
  readonly bip66Height: number;
  /** Number of signalling blocks in a window that locks in a deployment. */
  readonly ruleChangeActivationThreshold: number;
  readonly minerConfirmationWindow: number;
  readonly deployments: Readonly<Record<DeploymentId, Deployment>>;

  readonly base58: Base58Prefixes;
  readonly bech32Hrp: string;

  readonly minimumChainWork: bigint;
  /** Block id, wire order. */
  readonly assumeValid: Buffer | null;
  /** Snapshots known to this release: the block (printed id), and the SHA-256 of the file in hex. */
  readonly snapshots: readonly { readonly height: number; readonly block: string; readonly hash: string }[];
  /** Ascending heights. */
  readonly checkpoints: readonly Checkpoint[];
  /** Hashes over a thousand headers each, from the first block on, wire order; read from disk at the first call. */
  readonly headerChunks: () => Buffer;
  readonly chainTxData: ChainTxData;

  readonly dnsSeeds: readonly string[];
  /** IP addresses, or host names that are queried once for known addresses. */
  readonly fixedSeeds: readonly SeedAddress[];

  /** No block file is pruned below this height. */
  readonly pruneAfterHeight: number;
  readonly miningRequiresPeers: boolean;
  /** Default of `-checkmempool` and `-checkblockindex`. */
  readonly defaultConsistencyChecks: boolean;
  readonly requireStandard: boolean;
  readonly mineBlocksOnDemand: boolean;
  /** Source: `fTestnetToBeDeprecatedFieldRPC`. */
  readonly isTestNetwork: boolean;
  readonly fallbackFeeEnabled: boolean;
}
