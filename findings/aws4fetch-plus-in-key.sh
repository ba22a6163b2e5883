#!/usr/bin/env bash
# Package: aws4fetch 1.0.20 of npm, which signs requests to S3-compatible object stores.
# Input: GET of the object with the key `a+b`, at the URL https://store.example/bucket/a+b. In the path of a URL `+` is a plain
# character (RFC 3986); the signature's canonical path writes it as %2B.
# Expected: the signature that @smithy/signature-v4 5.3.0, the signer of Amazon's own SDK, makes for this key.
# Real: another signature. For S3 aws4fetch reads `+` in the path as a space (as in a form), so it signs the key `a b`, while the
# request goes out for `a+b`. A store answers SignatureDoesNotMatch. A key without `+`, and `+` written as %2B, are signed alike.
# Seen: ab: equal; a%2Bb: equal; a+b: different, that of `a b`
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts aws4fetch@1.0.20 @smithy/signature-v4@5.3.0 @aws-crypto/sha256-js@5.2.0
cat >seen.mjs <<'JS'
import { AwsV4Signer } from 'aws4fetch';
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '@aws-crypto/sha256-js';

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const of = (authorization) => /Signature=([0-9a-f]+)/.exec(authorization)[1];

async function small(path) {
  const signer = new AwsV4Signer({
    ...credentials,
    url: `https://store.example${path}`,
    service: 's3',
    region: 'us-east-1',
    datetime: '20260101T000000Z',
    headers: { 'x-amz-content-sha256': empty },
  });
  return of((await signer.sign()).headers.get('authorization'));
}

async function amazon(path) {
  const signer = new SignatureV4({ credentials, service: 's3', region: 'us-east-1', sha256: Sha256, uriEscapePath: false });
  const request = {
    method: 'GET',
    protocol: 'https:',
    hostname: 'store.example',
    path,
    query: {},
    headers: { host: 'store.example', 'x-amz-content-sha256': empty },
  };
  const signed = await signer.sign(request, { signingDate: new Date('2026-01-01T00:00:00Z') });
  return of(signed.headers['authorization']);
}

const word = async (url, key) => ((await small(url)) === (await amazon(key)) ? 'equal' : 'different');
const plain = await word('/bucket/ab', '/bucket/ab');
const escaped = await word('/bucket/a%2Bb', '/bucket/a%2Bb');
const plus = await word('/bucket/a+b', '/bucket/a%2Bb');
const space = (await small('/bucket/a+b')) === (await amazon('/bucket/a%20b')) ? ', that of `a b`' : '';
console.log(`ab: ${plain}; a%2Bb: ${escaped}; a+b: ${plus}${space}`);
JS
seen=$(node seen.mjs)
echo "aws4fetch 1.0.20: $seen"
[ "$seen" = 'ab: equal; a%2Bb: equal; a+b: different, that of `a b`' ]
