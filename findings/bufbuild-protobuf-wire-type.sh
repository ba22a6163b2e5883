#!/usr/bin/env bash
# Package: @bufbuild/protobuf 2.13.0 of npm, a protobuf library for JavaScript, here for claims of LBRY, which are protobuf messages.
# Input: a message in which a known field has another wire type than its declaration: field 1, declared int64, is length-delimited.
# Anybody can put such a claim into the chain. Protobuf's C++ library, with which lbry-sdk reads claims, takes the field for an
# unknown one, and keeps it when it writes the message again, so that the signature over these bytes stays valid.
# Expected: field 1 has its default 0, field 2 is 5, as protobufjs 8.8.1 reads it.
# Real: an error. The reader decides by the number of the field alone: it reads the length as the number, and the content as the next
# fields. With other content it returns wrong values without an error.
# Seen: 0a036162631005: error, protobufjs 0 and 5; 0a0210071005: seconds 2 nanos 5, protobufjs 0 and 5
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @bufbuild/protobuf@2.13.0 protobufjs@8.8.1
cat >seen.mjs <<'JS'
import { fromBinary } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';

const source = 'syntax = "proto3"; message Timestamp { int64 seconds = 1; int32 nanos = 2; }';
const other = protobuf.parse(source).root.lookupType('Timestamp');

function read(bytes) {
  try {
    const { seconds, nanos } = fromBinary(TimestampSchema, bytes);
    return `seconds ${seconds} nanos ${nanos}`;
  } catch {
    return 'error';
  }
}

function seen(hex) {
  const bytes = Buffer.from(hex, 'hex');
  const { seconds, nanos } = other.decode(bytes);
  return `${hex}: ${read(bytes)}, protobufjs ${seconds} and ${nanos}`;
}

console.log(`${seen('0a036162631005')}; ${seen('0a0210071005')}`);
JS
seen=$(node seen.mjs)
echo "$seen"
expected='0a036162631005: error, protobufjs 0 and 5; 0a0210071005: seconds 2 nanos 5, protobufjs 0 and 5'
[ "$seen" = "$expected" ] || { echo "changed: expected \"$expected\"" >&2; exit 1; }
