/**
 * Parses the claim ids of `-hubblockingchannels` and `-hubfilteringchannels`. One value may have several ids, separated by
 * commas.
 */

/** Returns the ids in lower case without duplicates. */
export function channelIds(values: readonly string[]): string[] {
  return [...new Set(values.flatMap((value) => value.toLowerCase().split(',')))];
}
