/**
 * Parameters of the regression-test network, and the options that change its forks. Parses `-forkheight`, `-claimexpiration`,
 * `-assumevaliddepth` and `-vbparams`. The caller must check that the network is regtest. Source: lbrycrd chainparams.cpp `CRegTestParams`,
 * init.cpp `AppInitParameterInteraction` for `-vbparams`.
 */
import { fromHex } from '../util/bytes.js';
import { buildGenesis } from './genesis.js';
import {
  ALWAYS_ACTIVE,
  ASSUME_VALID_DEPTH_SEC,
  DEPLOYMENT_IDS,
  NO_TIMEOUT,
  type ClaimForks,
  type Deployment,
  type DeploymentId,
  type NetworkParams,
} from './network.js';

const genesis = buildGenesis({ timeSec: 1446058291, bits: 0x207fffff, nonce: 1 });

export const regtestParams: NetworkParams = {
  name: 'regtest',
  referenceName: 'lbrycrdreg',
  dataFolder: 'regtest',
  magic: fromHex('fae4aad1'),
  p2pPort: 29246,
  rpcPort: 29245,

  genesis,
  genesisHash: genesis.hash,

  powLimit: 0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffn,
  powLimitBits: 0x207fffff,
  targetSpacingSec: 1,
  targetTimespanSec: 1,
  minDifficultyRange: null,
  noRetargeting: false,
  subsidyLevelInterval: 32,

  claimForks: {
    originalExpiration: 500,
    extendedExpiration: 600,
    extendedExpirationForkHeight: 800,
    normalizationForkHeight: 250,
    takeoverWorkaroundMin: -1,
    takeoverWorkaroundMax: -1,
    allClaimsForkHeight: 350,
  },

  segwitHeight: 150,
  bip16Exception: null,
  bip34Height: 1000,
  bip34Hash: null,
  bip65Height: 1351,
  bip66Height: 1251,
  ruleChangeActivationThreshold: 108,
  minerConfirmationWindow: 144,
  deployments: {
    testdummy: { bit: 28, startTimeSec: 0n, timeoutSec: NO_TIMEOUT },
    csv: { bit: 0, startTimeSec: 0n, timeoutSec: NO_TIMEOUT },
    segwit: { bit: 1, startTimeSec: ALWAYS_ACTIVE, timeoutSec: NO_TIMEOUT },
  },

  base58: {
    pubkeyHash: fromHex('6f'),
    scriptHash: fromHex('c4'),
    secretKey: fromHex('ef'),
    extPublic: fromHex('043587cf'),
    extSecret: fromHex('04358394'),
  },
  bech32Hrp: 'rlbc',

  minimumChainWork: 0n,
  assumeValid: null,
  assumeValidDepthSec: ASSUME_VALID_DEPTH_SEC,
  snapshots: [],
  checkpoints: [{ height: 0, hash: genesis.hash }],
  headerChunks: () => Buffer.alloc(0),
  chainTxData: { timeSec: 0, txCount: 0, txPerSec: 0 },

  dnsSeeds: [],
  fixedSeeds: [],

  pruneAfterHeight: 1000,
  miningRequiresPeers: false,
  defaultConsistencyChecks: true,
  requireStandard: false,
  mineBlocksOnDemand: true,
  isTestNetwork: false,
  fallbackFeeEnabled: true,
};

/** Changes of regtest parameters from the command line. Each text is the part after the `=` of the option. */
export interface RegtestOverrides {
  /** Values of `-forkheight`: `<name>@<height>`, or `takeoverworkaround@<min>-<max>`. */
  readonly forkHeights?: readonly string[] | undefined;
  /** Value of `-claimexpiration`: `<original>,<extended>`, in blocks. */
  readonly claimExpiration?: string | undefined;
  /** Value of `-assumevaliddepth`, in seconds. */
  readonly assumeValidDepthSec?: number | undefined;
  /** Values of `-vbparams`: `<deployment>:<start>:<end>`, in Unix time. */
  readonly vbParams?: readonly string[] | undefined;
}

/** Error: an override cannot be parsed. The message is for the operator. */
export class OverrideError extends Error {
  override readonly name = 'OverrideError';
}

/** Maximum height, a signed 32-bit number in the reference. */
const MAX_HEIGHT = 0x7fffffff;
const MIN_INT64 = -(1n << 63n);

type MutableForks = { -readonly [K in keyof ClaimForks]: ClaimForks[K] };
type HeightField = 'segwitHeight' | 'bip34Height' | 'bip65Height' | 'bip66Height';
type ClaimHeightField = 'extendedExpirationForkHeight' | 'normalizationForkHeight' | 'allClaimsForkHeight';

const CLAIM_FORK_FIELDS = new Map<string, ClaimHeightField>([
  ['extendedexpiration', 'extendedExpirationForkHeight'],
  ['normalization', 'normalizationForkHeight'],
  ['allclaims', 'allClaimsForkHeight'],
]);

const HEIGHT_FIELDS = new Map<string, HeightField>([
  ['segwit', 'segwitHeight'],
  ['bip34', 'bip34Height'],
  ['bip65', 'bip65Height'],
  ['bip66', 'bip66Height'],
]);

const FORK_NAMES = [...CLAIM_FORK_FIELDS.keys(), 'takeoverworkaround', ...HEIGHT_FIELDS.keys()];

function parseHeight(text: string, option: string): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (!(value <= MAX_HEIGHT)) throw new OverrideError(`Invalid height (${text}) in ${option}`);
  return value;
}

function parseInt64(text: string): bigint | null {
  if (!/^[+-]?\d+$/.test(text)) return null;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= MIN_INT64 && value <= NO_TIMEOUT ? value : null;
}

function parseVbParams(text: string): { id: DeploymentId; startTimeSec: bigint; timeoutSec: bigint } {
  const parts = text.split(':');
  const [name, start, end] = parts;
  if (parts.length !== 3 || name === undefined || start === undefined || end === undefined) {
    throw new OverrideError('Version bits parameters malformed, expecting deployment:start:end');
  }
  const startTimeSec = parseInt64(start);
  if (startTimeSec === null) throw new OverrideError(`Invalid nStartTime (${start})`);
  const timeoutSec = parseInt64(end);
  if (timeoutSec === null) throw new OverrideError(`Invalid nTimeout (${end})`);
  const id = DEPLOYMENT_IDS.find((known) => known === name);
  if (id === undefined) throw new OverrideError(`Invalid deployment (${name})`);
  return { id, startTimeSec, timeoutSec };
}

/**
 * Returns the regtest parameters with changed forks. If a fork is named several times, the last entry counts. Throws
 * `OverrideError` for text that cannot be parsed.
 */
export function regtestWith(overrides: RegtestOverrides): NetworkParams {
  const claimForks: MutableForks = { ...regtestParams.claimForks };
  const heights: Partial<Record<HeightField, number>> = {};
  const deployments: Record<DeploymentId, Deployment> = { ...regtestParams.deployments };

  for (const text of overrides.forkHeights ?? []) {
    const option = `-forkheight=${text}`;
    const at = text.indexOf('@');
    if (at < 0) throw new OverrideError(`${option} is malformed, expecting <name>@<height>`);
    const name = text.slice(0, at);
    const value = text.slice(at + 1);
    const claimField = CLAIM_FORK_FIELDS.get(name);
    const heightField = HEIGHT_FIELDS.get(name);
    if (claimField !== undefined) {
      claimForks[claimField] = parseHeight(value, option);
    } else if (heightField !== undefined) {
      heights[heightField] = parseHeight(value, option);
    } else if (name === 'takeoverworkaround') {
      const bounds = value.split('-');
      const [min, max] = bounds;
      if (bounds.length !== 2 || min === undefined || max === undefined) {
        throw new OverrideError(`${option} is malformed, expecting takeoverworkaround@<min>-<max>`);
      }
      claimForks.takeoverWorkaroundMin = parseHeight(min, option);
      claimForks.takeoverWorkaroundMax = parseHeight(max, option);
      if (claimForks.takeoverWorkaroundMin > claimForks.takeoverWorkaroundMax) {
        throw new OverrideError(`${option} ends before it begins`);
      }
    } else {
      throw new OverrideError(`${option} names an unknown fork; known are ${FORK_NAMES.join(', ')}`);
    }
  }

  if (overrides.claimExpiration !== undefined) {
    const option = `-claimexpiration=${overrides.claimExpiration}`;
    const terms = overrides.claimExpiration.split(',');
    const [original, extended] = terms;
    if (terms.length !== 2 || original === undefined || extended === undefined) {
      throw new OverrideError(`${option} is malformed, expecting <original>,<extended>`);
    }
    claimForks.originalExpiration = parseHeight(original, option);
    claimForks.extendedExpiration = parseHeight(extended, option);
    if (claimForks.originalExpiration < 1 || claimForks.extendedExpiration < claimForks.originalExpiration) {
      throw new OverrideError(`${option} must give at least one block, and no fewer after the extension`);
    }
  }

  for (const text of overrides.vbParams ?? []) {
    const { id, startTimeSec, timeoutSec } = parseVbParams(text);
    deployments[id] = { bit: deployments[id].bit, startTimeSec, timeoutSec };
  }

  const { assumeValidDepthSec = regtestParams.assumeValidDepthSec } = overrides;
  return { ...regtestParams, ...heights, claimForks, deployments, assumeValidDepthSec };
}
