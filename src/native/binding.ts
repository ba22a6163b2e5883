/**
 * Loads the native addon; `addonFiles.ts` finds its file. Each function of the addon has a TypeScript fallback in the module
 * that uses it, so the node also runs without the addon.
 */
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { addonCandidates, isCheckout, targetName } from './addonFiles.js';
import type { NativeAddon } from './addonTypes/addon.js';
import { unpacking, type PackingAddon } from './packed.js';

export type * from './addonTypes/addon.js';
export type * from './addonTypes/blocks.js';
export type * from './addonTypes/claims.js';
export type * from './addonTypes/stores.js';

/** Version of the interface `PackingAddon`. It is incremented with every change; an addon with another version is not used. */
export const NATIVE_ABI = 45;

type Loaded = { addon: NativeAddon; reason: null } | { addon: null; reason: string };

let loaded: Loaded | undefined;

function load(): Loaded {
  if (process.env['LBCNODE_NATIVE'] === '0') return { addon: null, reason: 'disabled by LBCNODE_NATIVE=0' };
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
      isCheckout() ? 'not built' : `the package contains no addon for ${targetName()}, and none was built`,
    );
  return { addon: null, reason: reasons.join('; ') };
}

/** Returns the addon; `null` if it is missing, disabled or has another interface version. Never throws. */
export function loadNative(): NativeAddon | null {
  loaded ??= load();
  return loaded.addon;
}

/** Reason why the addon was not loaded; `null` if it was. */
export function nativeUnavailableReason(): string | null {
  loaded ??= load();
  return loaded.reason;
}

/** Looks for the addon again, after it was built. Returns `null` if it still cannot be loaded. */
export function reloadNative(): NativeAddon | null {
  loaded = load();
  return loaded.addon;
}
