/**
 * Validates names of new claims. Any name of the URL grammar is valid; names of channels begin with `@`. Source: lbry-sdk
 * lbry/extras/daemon/daemon.py `valid_stream_name_or_error` and its siblings.
 */
import { parseUrl } from '../../metadata/url.js';
import { failure } from '../base/daemonError.js';

/** Throws if the name is invalid for a stream or a repost. */
export function checkStreamName(name: string): void {
  const url = name === '' ? null : parseUrl(name);
  if (url === null) throw failure('Invalid stream name.');
  if (url.channel !== null)
    throw failure("Stream names cannot start with '@' symbol. This is reserved for channels claims.");
  if (url.stream?.name !== name) throw failure('Stream name has invalid characters.');
}

/** Throws if the name is invalid for a collection claim. */
export function checkCollectionName(name: string): void {
  if (name === '') throw failure('Collection name cannot be blank.');
  const url = parseUrl(name);
  if (url === null) throw failure('Invalid collection name.');
  if (url.channel !== null)
    throw failure("Collection names cannot start with '@' symbol. This is reserved for channels claims.");
  if (url.stream?.name !== name) throw failure('Collection name has invalid characters.');
}

/** Throws if the name is invalid for a channel. */
export function checkChannelName(name: string): void {
  if (name === '') throw failure('Channel name cannot be blank.');
  const url = parseUrl(name);
  if (url === null) throw failure('Invalid channel name.');
  if (url.channel === null) throw failure("Channel names must start with '@' symbol.");
  if (url.stream !== null || url.channel.name !== name) throw failure('Channel name has invalid character');
}
