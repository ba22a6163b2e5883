import { describe, expect, it } from 'vitest';
import {
  checkChannelName,
  checkCollectionName,
  checkStreamName,
} from '../../../../src/daemon/txBuilding/claimNames.js';

const FORBIDDEN = [...'=&#:$@%?;"/\\<>{}|^~`[] ', '\u0000', '\t', '\n', '\u{d800}', '\u{fffe}', '\u{ffff}'];

/** The refusal's text, or null. */
function refusal(check: (name: string) => void, name: string): string | null {
  try {
    check(name);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('names of claims', () => {
  it('are refused with a forbidden character anywhere', () => {
    for (const character of FORBIDDEN)
      for (const name of [`${character}name`, `na${character}me`, `name${character}`]) {
        expect(refusal(checkStreamName, name), JSON.stringify(name)).not.toBeNull();
        expect(refusal(checkCollectionName, name), JSON.stringify(name)).not.toBeNull();
        expect(refusal(checkChannelName, `@${name}`), JSON.stringify(name)).not.toBeNull();
      }
  });

  it('are accepted with every other character', () => {
    for (const name of ['a', 'Übergröße', '名前', '🎬', 'with-dash_and.dot,(x)!*+', "it's"]) {
      expect(refusal(checkStreamName, name)).toBeNull();
      expect(refusal(checkCollectionName, name)).toBeNull();
      expect(refusal(checkChannelName, `@${name}`)).toBeNull();
    }
  });

  it('are refused with the messages that clients know', () => {
    expect(refusal(checkStreamName, '')).toBe('Invalid stream name.');
    expect(refusal(checkStreamName, 'x y')).toBe('Invalid stream name.');
    expect(refusal(checkStreamName, '@x')).toBe(
      "Stream names cannot start with '@' symbol. This is reserved for channels claims.",
    );
    expect(refusal(checkStreamName, 'lbry://x')).toBe('Stream name has invalid characters.');
    expect(refusal(checkStreamName, 'x:1')).toBe('Stream name has invalid characters.');
    expect(refusal(checkCollectionName, '')).toBe('Collection name cannot be blank.');
    expect(refusal(checkCollectionName, 'x y')).toBe('Invalid collection name.');
    expect(refusal(checkCollectionName, 'x\n')).toBe('Collection name has invalid characters.');
    expect(refusal(checkChannelName, '')).toBe('Channel name cannot be blank.');
    expect(refusal(checkChannelName, '@')).toBe('Invalid channel name.');
    expect(refusal(checkChannelName, 'x')).toBe("Channel names must start with '@' symbol.");
    expect(refusal(checkChannelName, '@x/y')).toBe('Channel name has invalid character');
    expect(refusal(checkChannelName, '@x#1')).toBe('Channel name has invalid character');
  });
});
