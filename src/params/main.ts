/**
 * Parameters of the main network. Source: lbrycrd chainparams.cpp `CMainParams`, chainparamsbase.cpp; servers:
 * data/networks/main.json.
 */
import { fromHex, hashFromHex } from '../util/bytes.js';
import { buildGenesis } from './genesis.js';
import { ASSUME_VALID_DEPTH_SEC, type NetworkParams } from './network.js';
import { networkFacts, paramsOfFacts } from './networkFacts.js';

const genesis = buildGenesis({ timeSec: 1446058291, bits: 0x1f00ffff, nonce: 1287 });

export const mainParams: NetworkParams = {
  name: 'main',
  referenceName: 'lbrycrd',
  dataFolder: '',
  magic: fromHex('fae4aaf1'),
  p2pPort: 9246,
  rpcPort: 9245,

  genesis,
  genesisHash: genesis.hash,

  powLimit: 0x0000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffn,
  powLimitBits: 0x1f00ffff,
  targetSpacingSec: 150,
  assumeValidDepthSec: ASSUME_VALID_DEPTH_SEC,
  targetTimespanSec: 150,
  minDifficultyRange: null,
  noRetargeting: false,
  subsidyLevelInterval: 32,

  claimForks: {
    originalExpiration: 262974,
    extendedExpiration: 2102400,
    extendedExpirationForkHeight: 400155,
    normalizationForkHeight: 539940,
    takeoverWorkaroundMin: 496850,
    takeoverWorkaroundMax: 658300,
    allClaimsForkHeight: 658310,
  },

  segwitHeight: 680770,
  bip16Exception: hashFromHex('00000000000002dc756eebf4f49723ed8d30cc28a5f108eb94b1ba88ac4f9c22'),
  bip34Height: 1,
  bip34Hash: hashFromHex('decb9e2cca03a419fd9cca0cb2b1d5ad11b088f22f8f38556d93ac4358b86c24'),
  bip65Height: 200000,
  bip66Height: 200000,
  ruleChangeActivationThreshold: 1916,
  minerConfirmationWindow: 2016,
  deployments: {
    testdummy: { bit: 28, startTimeSec: 1199145601n, timeoutSec: 1230767999n },
    csv: { bit: 0, startTimeSec: 1462060800n, timeoutSec: 1493596800n },
    segwit: { bit: 1, startTimeSec: 1547942400n, timeoutSec: 1548288000n },
  },

  base58: {
    pubkeyHash: fromHex('55'),
    scriptHash: fromHex('7a'),
    secretKey: fromHex('1c'),
    extPublic: fromHex('0488b21e'),
    extSecret: fromHex('0488ade4'),
  },
  bech32Hrp: 'lbc',

  ...paramsOfFacts(networkFacts('main')),
  chainTxData: { timeSec: 1467272478, txCount: 4146, txPerSec: 600 },

  pruneAfterHeight: 100000,
  miningRequiresPeers: true,
  defaultConsistencyChecks: false,
  requireStandard: true,
  mineBlocksOnDemand: false,
  isTestNetwork: false,
  fallbackFeeEnabled: false,
};
