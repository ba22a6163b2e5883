import { describe, expect, it } from 'vitest';
import { splitHostPort } from '../../../../src/util/network/hostPort.js';

describe('host and port', () => {
  // The reference's netbase_tests.cpp, netbase_splithost.
  it.each([
    ['www.bitcoin.org', 'www.bitcoin.org', 5],
    ['[www.bitcoin.org]', 'www.bitcoin.org', 5],
    ['www.bitcoin.org:80', 'www.bitcoin.org', 80],
    ['[www.bitcoin.org]:80', 'www.bitcoin.org', 80],
    ['127.0.0.1', '127.0.0.1', 5],
    ['127.0.0.1:8333', '127.0.0.1', 8333],
    ['[127.0.0.1]:8333', '127.0.0.1', 8333],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1', 5],
    ['[::ffff:127.0.0.1]:8333', '::ffff:127.0.0.1', 8333],
    ['[::]:8333', '::', 8333],
    ['::8333', '::8333', 5],
    [':8333', '', 8333],
    ['[]:8333', '', 8333],
    ['', '', 5],
    ['host:99999', 'host:99999', 5],
  ])('splits %j', (text, host, port) => {
    expect(splitHostPort(text, 5)).toEqual({ host, port });
  });
});
