/**
 * Creates the hub from the options: its addresses, its server description, and its interface to the node. Loaded only with
 * `-hub`.
 */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { Hub, type HubDeps } from '../../hub/hub.js';
import { Location_Country } from '../../metadata/messages/claim_pb.js';
import { hashFromHex } from '../../util/bytes.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { channelIds } from './channelIds.js';
import { OptionError } from '../options/optionArgs.js';
import type { LoadedOptions } from '../options/options.js';

export interface HubInput extends HubDeps {
  /** Maximum number of concurrent clients of the hub. */
  readonly maxSessions: number;
}

/** Checks those options of the hub that can be checked before anything is opened. Throws `OptionError`. */
export function checkHubOptions(loaded: LoadedOptions, warn: (text: string) => void): void {
  countryNumber(loaded.options.hubcountry);
  const banner = bannerFile(loaded);
  if (banner === null) return;
  try {
    refuseSpecialFile(banner);
    accessSync(banner, constants.R_OK);
  } catch (error) {
    // The problem causes only a warning, because the file may exist when a client requests the banner.
    warn(`The hub's banner cannot be read: ${(error as Error).message}`);
  }
}

function bannerFile({ options, paths }: LoadedOptions): string | null {
  return options.hubbanner === undefined ? null : resolve(paths.dataDir, options.hubbanner);
}

/** Starts the hub and opens its ports. Rejects with `OptionError` or `HubStartError`. */
export async function startHub(loaded: LoadedOptions, { maxSessions, ...deps }: HubInput): Promise<Hub> {
  const { options } = loaded;
  const hub = new Hub(
    {
      host: options.hubbind,
      port: options.hubport,
      udpPort: (options.hubudpport ?? options.hubport) || null,
      country: countryNumber(options.hubcountry),
      maxSessions,
      sessionTimeoutSec: options.hubsessiontimeout,
      peers: options.hubpeers,
      blockingChannels: channelIds(options.hubblockingchannels).map(hashFromHex),
      facts: {
        description: options.hubdescription,
        paymentAddress: options.hubpaymentaddress ?? '',
        donationAddress: options.hubdonationaddress ?? '',
        dailyFee: options.hubdailyfee,
        bannerFile: bannerFile(loaded),
        dropClient: options.hubdropclient === undefined ? null : new RegExp(`^(?:${options.hubdropclient})`),
      },
    },
    deps,
  );
  try {
    await hub.open();
  } catch (error) {
    await hub.close();
    throw error;
  }
  return hub;
}

/** Returns the number of a country in `Location.Country`. In that enum, numeric regions have the prefix R. */
export function countryNumber(code: string | undefined): number {
  if (code === undefined) return Location_Country.UNKNOWN_COUNTRY;
  const name = /^[0-9]{3}$/.test(code) ? `R${code}` : code.toUpperCase();
  const number = (Location_Country as Readonly<Record<string, number>>)[name];
  if (number === undefined)
    throw new OptionError(`Unknown country in -hubcountry: ${code}`, 'hubcountry', code);
  return number;
}
