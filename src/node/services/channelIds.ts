/** The claim ids of `-hubblockingchannels` and `-hubfilteringchannels`: each value may have several with commas between. */

/** Each id once, in lower case as printed. */
export function channelIds(values: readonly string[]): string[] {
  return [...new Set(values.flatMap((value) => value.toLowerCase().split(',')))];
}
