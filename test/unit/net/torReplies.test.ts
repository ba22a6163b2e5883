import { describe, expect, it } from 'vitest';
import { parseReplyArguments, quote, splitReplyLine } from '../../../src/net/tor/replies.js';

const parsed = (text: string): Record<string, string> => Object.fromEntries(parseReplyArguments(text));

// Expected values are from Core's torcontrol_tests.cpp and Tor's control-spec.txt.
describe("Tor's reply lines", () => {
  it.each([
    ['PROTOCOLINFO PIVERSION', 'PROTOCOLINFO', 'PIVERSION'],
    [
      'AUTH METHODS=COOKIE,SAFECOOKIE COOKIEFILE="/home/x"',
      'AUTH',
      'METHODS=COOKIE,SAFECOOKIE COOKIEFILE="/home/x"',
    ],
    ['COMMAND', 'COMMAND', ''],
    ['COMMAND ', 'COMMAND', ''],
    ['COMMAND  EXTRA=1', 'COMMAND', ' EXTRA=1'],
    ['', '', ''],
  ])('%j splits', (line, type, rest) => {
    expect(splitReplyLine(line)).toEqual({ type, rest });
  });

  it.each<[string, Record<string, string>]>([
    [
      'METHODS=COOKIE,SAFECOOKIE COOKIEFILE="/home/x/.tor/control_auth_cookie"',
      {
        METHODS: 'COOKIE,SAFECOOKIE',
        COOKIEFILE: '/home/x/.tor/control_auth_cookie',
      },
    ],
    ['METHODS=NULL', { METHODS: 'NULL' }],
    ['Tor="0.2.9.8 (git-a0df013ea241b026)"', { Tor: '0.2.9.8 (git-a0df013ea241b026)' }],
    ['SERVERHASH=aaaa SERVERNONCE=bbbb', { SERVERHASH: 'aaaa', SERVERNONCE: 'bbbb' }],
    ['ServiceID=exampleonion1234', { ServiceID: 'exampleonion1234' }],
    ['PrivateKey=RSA1024:BLOB=', { PrivateKey: 'RSA1024:BLOB=' }],
    ['ClientAuth=bob:BLOB', { ClientAuth: 'bob:BLOB' }],
    ['Foo=Bar=Baz Spam=Eggs', { Foo: 'Bar=Baz', Spam: 'Eggs' }],
    ['Foo="Bar=Baz"', { Foo: 'Bar=Baz' }],
    ['Foo="Bar Baz"', { Foo: 'Bar Baz' }],
    ['Foo="Bar\\ Baz"', { Foo: 'Bar Baz' }],
    ['Foo="Bar\\Baz"', { Foo: 'BarBaz' }],
    ['Foo="Bar\\"Baz"', { Foo: 'Bar"Baz' }],
    ['Foo="Bar\\"Baz" Spam="\\"Eggs\\""', { Foo: 'Bar"Baz', Spam: '"Eggs"' }],
    ['Foo="Bar\\\\Baz"', { Foo: 'Bar\\Baz' }],
    ['Foo="\\n\\t\\r\\\\"', { Foo: '\n\t\r\\' }],
    [
      'Foo="Bar\\nBaz\\t" Spam="\\rEggs" Octals="\\1a\\11\\17\\18\\81\\377\\378\\400\\2222"',
      {
        Foo: 'Bar\nBaz\t',
        Spam: '\rEggs',
        Octals: '\x01a\t\x0f\x018' + '81\xff\x1f8\x200\x922',
      },
    ],
    ['Foo=', { Foo: '' }],
    ['Foo="" Spam=Eggs', { Foo: '', Spam: 'Eggs' }],
    // An argument that is not a pair ends the list.
    ['Foo=Bar Baz Spam=Eggs', { Foo: 'Bar' }],
    ['Foo=Bar  Spam=Eggs', { Foo: 'Bar' }],
    // Malformed.
    ['Foo=Bar Baz', {}],
    ['Foo', {}],
    ['Foo="', {}],
    ['Foo="Bar', {}],
    ['Foo="Bar\\"', {}],
    ['', {}],
    ['Valid=Mapping Escaped="Escape\\\\"', { Valid: 'Mapping', Escaped: 'Escape\\' }],
    ['Valid=Mapping Bare="Escape\\"', {}],
    ['One="End\\1" Two="End\\11"', { One: 'End\x01', Two: 'End\t' }],
    ['Null="\\0"', { Null: '\0' }],
    ['SOME=args,here MORE optional=arguments  here', { SOME: 'args,here' }],
    ['MORE  ARGS', {}],
    ['EVEN more=ARGS', {}],
  ])('%j has its arguments', (text, expected) => {
    expect(parsed(text)).toEqual(expected);
  });

  it('takes linear time over a long line', () => {
    const long = '\\"'.repeat(50_000);
    expect(parsed(`Foo="${long}"`)).toEqual({ Foo: '"'.repeat(50_000) });
    expect(parsed(`Foo="${long}`)).toEqual({});
  });

  it('quotes texts if necessary', () => {
    expect(quote('a"b\\c')).toBe('"a\\"b\\\\c"');
    expect(parsed(`Foo=${quote('a"b\\c d')}`)).toEqual({ Foo: 'a"b\\c d' });
  });
});
