/** The claim ids of `-hubblockingchannels` and `-hubfilteringchannels`: a value may have several, separated by commas. */

/** The ids without duplicates, in lower case as printed. */
export function channelIds(values: readonly string[]): string[] {
  return [...new Set(values.flatMap((value) => value.toLowerCase().split(',')))];
}
