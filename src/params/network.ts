/**
 * Parameters in which the networks differ. Defines the types and the constants of version-bit deployments; `main.ts`,
 * `test.ts` and `regtest.ts` contain the values. Source: lbrycrd `CChainParams`, `CBaseChainParams`, `Consensus::Params`.
 */
import type { Bytes } from '../util/bytes.js';
import type { GenesisBlock } from './genesis.js';

export type NetworkName = 'main' | 'test' | 'regtest';

/** Version-bit deployments in the order of Core's `DeploymentPos`. RPC results list them in this order. */
export const DEPLOYMENT_IDS = ['testdummy', 'csv', 'segwit'] as const;

export type DeploymentId = (typeof DEPLOYMENT_IDS)[number];

/** Start time of a deployment that is active from the genesis block on. Source: `BIP9Deployment::ALWAYS_ACTIVE`. */
export const ALWAYS_ACTIVE = -1n;

/**
 * Timeout of a deployment that never expires: the maximum signed 64-bit number, which RPC results show unchanged. Source:
 * `BIP9Deployment::NO_TIMEOUT`.
 */
export const NO_TIMEOUT = 0x7fffffffffffffffn;

/**
 * A BIP9 deployment. Its times are compared with median times past. They are bigint because `NO_TIMEOUT` exceeds the
 * precision of a number.
 */
export interface Deployment {
  /** Bit number in the block version, 0 to 28. */
  readonly bit: number;
  readonly startTimeSec: bigint;
  readonly timeoutSec: bigint;
}

/** Heights of the first blocks to which changed claim rules apply. */
export interface ClaimForks {
  /** Lifetime of a claim or support in blocks, before and after the fork that extended it. */
  readonly originalExpiration: number;
  readonly extendedExpiration: number;
  readonly extendedExpirationForkHeight: number;
  readonly normalizationForkHeight: number;
  /** Range of heights in which the takeover workaround applies, both limits excluded. −1 and −1 disable it. */
  readonly takeoverWorkaroundMin: number;
  readonly takeoverWorkaroundMax: number;
  readonly allClaimsForkHeight: number;
}

/** Version bytes of base58 addresses and keys. */
export interface Base58Prefixes {
  readonly pubkeyHash: Bytes;
  readonly scriptHash: Bytes;
  readonly secretKey: Bytes;
  readonly extPublic: Bytes;
  readonly extSecret: Bytes;
}

/**
 * A block may have the minimum difficulty if the height of its parent is from `minHeight` (inclusive) to the maximum height
 * (exclusive).
 */
export interface MinDifficultyRange {
  readonly minHeight: number;
  readonly maxHeight: number;
}

export interface Checkpoint {
  readonly height: number;
  /** Block id, 32 bytes in wire order. */
  readonly hash: Bytes;
}

export interface SeedAddress {
  readonly host: string;
  readonly port: number;
}

/** Number of transactions of the chain at a known time, used to estimate progress. Source: `ChainTxData`. */
export interface ChainTxData {
  readonly timeSec: number;
  readonly txCount: number;
  readonly txPerSec: number;
}

/** Default of `assumeValidDepthSec`: two weeks. Source: lbrycrd validation.cpp `ConnectBlock`. */
export const ASSUME_VALID_DEPTH_SEC = 60 * 60 * 24 * 7 * 2;

export interface NetworkParams {
  readonly name: NetworkName;
  /** Name of the network in lbrycrd: used in its configuration file and in the result of `getblockchaininfo`. */
  readonly referenceName: 'lbrycrd' | 'lbrycrdtest' | 'lbrycrdreg';
  /** Name of the network's folder in the data folder; empty for the main network. */
  readonly dataFolder: string;
  /** Four bytes that precede each P2P message and each block in a block file. */
  readonly magic: Buffer;
  readonly p2pPort: number;
  readonly rpcPort: number;

  readonly genesis: GenesisBlock;
  /** Wire order. */
  readonly genesisHash: Buffer;

  /** Maximum target (lowest difficulty) of a block. */
  readonly powLimit: bigint;
  readonly powLimitBits: number;
  readonly targetSpacingSec: number;
  readonly targetTimespanSec: number;
  readonly minDifficultyRange: MinDifficultyRange | null;
  readonly noRetargeting: boolean;
  /** Number of blocks per step of the subsidy's decline. Source: `nSubsidyLevelInterval`. */
  readonly subsidyLevelInterval: number;

  readonly claimForks: ClaimForks;

  /**
   * Activation height of BIP141, BIP143 and BIP147. On this chain version bits do not activate them. Source:
   * `nWitnessForkHeight`.
   */
  readonly segwitHeight: number;
  /**
   * Id in wire order of the only block to which the rules for P2SH do not apply. It is a block of Bitcoin that does not
   * exist on this chain.
   */
  readonly bip16Exception: Buffer | null;
  readonly bip34Height: number;
  /** Id of the block at `bip34Height`, in wire order. For descendants of this block the BIP30 check is skipped. */
  readonly bip34Hash: Buffer | null;
  readonly bip65Height: number;
  readonly bip66Height: number;
  /** Number of signalling blocks in a window that are needed to lock in a deployment. */
  readonly ruleChangeActivationThreshold: number;
  readonly minerConfirmationWindow: number;
  readonly deployments: Readonly<Record<DeploymentId, Deployment>>;

  readonly base58: Base58Prefixes;
  readonly bech32Hrp: string;

  readonly minimumChainWork: bigint;
  /** Block id, 32 bytes in wire order. */
  readonly assumeValid: Buffer | null;
  /** Time in seconds that the work above a block must represent before the scripts of the block are assumed valid. */
  readonly assumeValidDepthSec: number;
  /**
   * UTXO snapshots whose hashes this release contains: height and id of the block in display order, and SHA-256 of the file
   * in hex.
   */
  readonly snapshots: readonly { readonly height: number; readonly block: string; readonly hash: string }[];
  /** Ascending heights. */
  readonly checkpoints: readonly Checkpoint[];
  /**
   * Returns hashes of groups of 1,000 headers each, from the genesis block on, in wire order. The hashes are read from disk
   * at the first call.
   */
  readonly headerChunks: () => Buffer;
  readonly chainTxData: ChainTxData;

  readonly dnsSeeds: readonly string[];
  /** IP addresses of nodes, or host names that are connected once to request addresses. */
  readonly fixedSeeds: readonly SeedAddress[];

  /** Height below which no block file is pruned. */
  readonly pruneAfterHeight: number;
  readonly miningRequiresPeers: boolean;
  /** Whether consistency checks are on by default (`-checkmempool`, `-checkblockindex`). */
  readonly defaultConsistencyChecks: boolean;
  readonly requireStandard: boolean;
  readonly mineBlocksOnDemand: boolean;
  /** Source: `fTestnetToBeDeprecatedFieldRPC`. */
  readonly isTestNetwork: boolean;
  readonly fallbackFeeEnabled: boolean;
}
