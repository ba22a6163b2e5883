/**
 * What makes one network of the chain differ from another: the parameter record and its parts.
 * Owns types and the constants of version-bit deployments; the values live in `main.ts`, `test.ts`, `regtest.ts`.
 * Source: lbrycrd `CChainParams`, `CBaseChainParams`, `Consensus::Params`.
 */
import type { Bytes } from '../util/bytes.js';
import type { GenesisBlock } from './genesis.js';

export type NetworkName = 'main' | 'test' | 'regtest';

/** Order matters: it is the order of Core's `DeploymentPos`, in which RPC answers list them. */
export const DEPLOYMENT_IDS = ['testdummy', 'csv', 'segwit'] as const;

export type DeploymentId = (typeof DEPLOYMENT_IDS)[number];

/** A deployment with this start is active from genesis on. Source: `BIP9Deployment::ALWAYS_ACTIVE`. */
export const ALWAYS_ACTIVE = -1n;

/** The largest signed 64-bit number; RPC prints it as it is. Source: `BIP9Deployment::NO_TIMEOUT`. */
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
  /** Blocks after which a claim or support expires, before and from the extension on. */
  readonly originalExpiration: number;
  readonly extendedExpiration: number;
  readonly extendedExpirationForkHeight: number;
  readonly normalizationForkHeight: number;
  /** Exclusive bounds of the takeover workaround; -1 and -1 switch it off. */
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

/** What is known about the number of transactions at a moment, to estimate progress. Source: `ChainTxData`. */
export interface ChainTxData {
  readonly timeSec: number;
  readonly txCount: number;
  readonly txPerSec: number;
}

export interface NetworkParams {
  readonly name: NetworkName;
  /** The reference's name of the network: its configuration section and its answer in `getblockchaininfo`. */
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

  /** Largest target a block may claim. */
  readonly powLimit: bigint;
  readonly powLimitBits: number;
  readonly targetSpacingSec: number;
  readonly targetTimespanSec: number;
  readonly minDifficultyRange: MinDifficultyRange | null;
  readonly noRetargeting: boolean;
  /** Blocks per step of the subsidy's decline. Source: `nSubsidyLevelInterval`. */
  readonly subsidyLevelInterval: number;

  readonly claimForks: ClaimForks;

  /** Where BIP141, BIP143 and BIP147 begin; version bits do not decide it here. Source: `nWitnessForkHeight`. */
  readonly segwitHeight: number;
  /** The one block without P2SH, wire order; it is one of Bitcoin's and no block of this chain. */
  readonly bip16Exception: Buffer | null;
  readonly bip34Height: number;
  /** Block id at `bip34Height` from which on BIP30 need not be checked, wire order. */
  readonly bip34Hash: Buffer | null;
  readonly bip65Height: number;
  readonly bip66Height: number;
  /** Signalling blocks of a window that lock a deployment in. */
  readonly ruleChangeActivationThreshold: number;
  readonly minerConfirmationWindow: number;
  readonly deployments: Readonly<Record<DeploymentId, Deployment>>;

  readonly base58: Base58Prefixes;
  readonly bech32Hrp: string;

  readonly minimumChainWork: bigint;
  /** Block id, wire order. */
  readonly assumeValid: Buffer | null;
  /** Snapshots that a release knows: of a block (printed id), the SHA-256 of the file in hex. */
  readonly snapshots: readonly { readonly height: number; readonly block: string; readonly hash: string }[];
  /** Ascending heights. */
  readonly checkpoints: readonly Checkpoint[];
  /** Hashes of a thousand headers each, from the first block on, wire order; read from disk at the first call. */
  readonly headerChunks: () => Buffer;
  readonly chainTxData: ChainTxData;

  readonly dnsSeeds: readonly string[];
  /** IP addresses, or names that are asked once for the addresses they know. */
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
