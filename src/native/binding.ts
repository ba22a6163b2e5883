/**
 * The only loader of the native addon (`addonFiles.ts` knows where it lies). Owns no rule of the chain: each function has a
 * readable TypeScript fallback in the layer that uses it, and the node runs on the fallbacks alone when the addon is absent.
 */
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { addonCandidates, isCheckout, targetName } from './addonFiles.js';
import type { NativeAddon } from './addonTypes.js';
import { unpacking, type PackingAddon } from './packed.js';

export type * from './addonTypes.js';

/** Raised with every change of `PackingAddon`; an addon built for another number is not used. */
export const NATIVE_ABI = 23;

type Loaded = { addon: NativeAddon; reason: null } | { addon: null; reason: string };

let loaded: Loaded | undefined;

function load(): Loaded {
  if (process.env['LBCNODE_NATIVE'] === '0')
    return { addon: null, reason: 'switched off by LBCNODE_NATIVE=0' };
  const require = createRequire(import.meta.url);
  const reasons: string[] = [];
  for (const path of addonCandidates().filter((candidate) => existsSync(candidate))) {
    try {
      const addon = require(path) as PackingAddon;
      if (addon.abi === NATIVE_ABI) return { addon: unpacking(addon), reason: null };
      reasons.push(`${path} is built for interface ${addon.abi}, ${NATIVE_ABI} wanted`);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (reasons.length === 0)
    reasons.push(
      isCheckout() ? 'not built' : `the package brings none for ${targetName()}, and none was built`,
    );
  return { addon: null, reason: reasons.join('; ') };
}

/** The addon, or `null` when it is absent, disabled or has another interface version. Never throws. */
export function loadNative(): NativeAddon | null {
  loaded ??= load();
  return loaded.addon;
}

/** Reason why the addon was not loaded; `null` if it was. */
export function nativeUnavailableReason(): string | null {
  loaded ??= load();
  return loaded.reason;
}

/** Looks for the addon again, after it was built; `null` if there still is none. */
export function reloadNative(): NativeAddon | null {
  loaded = load();
  return loaded.addon;
}
