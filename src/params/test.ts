/**
 * Parameters of the public test network. Source: lbrycrd chainparams.cpp `CTestNetParams`, chainparamsbase.cpp; newer seeds:
 * lbcd chaincfg/params.go.
 */
import { fromHex, hashFromHex } from '../util/bytes.js';
import { buildGenesis } from './genesis.js';
import { ASSUME_VALID_DEPTH_SEC, type NetworkParams } from './network.js';
import { networkFacts, paramsOfFacts } from './networkFacts.js';

const genesis = buildGenesis({ timeSec: 1446058291, bits: 0x1f00ffff, nonce: 1287 });

export const testParams: NetworkParams = {
  name: 'test',
  referenceName: 'lbrycrdtest',
  dataFolder: 'testnet3',
  magic: fromHex('fae4aae1'),
  p2pPort: 19246,
  rpcPort: 19245,

  genesis,
  genesisHash: genesis.hash,

  powLimit: 0x0000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffn,
  powLimitBits: 0x1f00ffff,
  targetSpacingSec: 150,
  assumeValidDepthSec: ASSUME_VALID_DEPTH_SEC,
  targetTimespanSec: 150,
  minDifficultyRange: { minHeight: 277299, maxHeight: 1100000 },
  noRetargeting: false,
  subsidyLevelInterval: 32,

  claimForks: {
    originalExpiration: 262974,
    extendedExpiration: 2102400,
    extendedExpirationForkHeight: 278160,
    normalizationForkHeight: 993380,
    takeoverWorkaroundMin: 99,
    takeoverWorkaroundMax: 1198550,
    allClaimsForkHeight: 1198560,
  },

  segwitHeight: 1198600,
  bip16Exception: hashFromHex('00000000dd30457c001f4095d208cc1296b0eed002427aa599874af7a432b105'),
  bip34Height: 21111,
  bip34Hash: hashFromHex('0000000023b3a96d3484e5abb3755c413e7d41500f8e2a5c3f0dd01299cd8ef8'),
  bip65Height: 1200000,
  bip66Height: 1200000,
  ruleChangeActivationThreshold: 1512,
  minerConfirmationWindow: 2016,
  deployments: {
    testdummy: { bit: 28, startTimeSec: 1199145601n, timeoutSec: 1230767999n },
    csv: { bit: 0, startTimeSec: 1456790400n, timeoutSec: 1493596800n },
    segwit: { bit: 1, startTimeSec: 1462060800n, timeoutSec: 1493596800n },
  },

  base58: {
    pubkeyHash: fromHex('6f'),
    scriptHash: fromHex('c4'),
    secretKey: fromHex('ef'),
    extPublic: fromHex('043587cf'),
    extSecret: fromHex('04358394'),
  },
  bech32Hrp: 'tlbc',

  ...paramsOfFacts(networkFacts('test')),
  checkpoints: [{ height: 0, hash: genesis.hash }],
  // Bitcoin's values, which lbrycrd did not change for its test network. They affect only the progress estimate.
  chainTxData: { timeSec: 1531929919, txCount: 19438708, txPerSec: 0.626 },

  pruneAfterHeight: 1000,
  miningRequiresPeers: true,
  defaultConsistencyChecks: false,
  requireStandard: false,
  mineBlocksOnDemand: false,
  isTestNetwork: true,
  fallbackFeeEnabled: true,
};
