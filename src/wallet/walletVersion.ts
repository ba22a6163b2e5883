/** Wallet versions. The numbers are those of the reference. Source: lbrycrd wallet/wallet.h `WalletFeature`. */
import type { Bytes } from '../util/bytes.js';
import { Reader } from '../util/reader.js';

export const FEATURE = {
  base: 10_500,
  encryption: 40_000,
  compressedKeys: 60_000,
  hd: 130_000,
  hdSplit: 139_900,
  noDefaultKey: 159_900,
  preSplitKeypool: 169_900,
  latest: 169_900,
} as const;

export const parseNumber = (value: Bytes): number => new Reader(value).i32();
