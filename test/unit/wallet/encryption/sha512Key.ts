/** A second implementation of the reference's key stretching. Source: lbrycrd wallet/crypter.cpp `BytesToKeySHA512AES`. */
import { createHash } from 'node:crypto';

export function sha512Key(passphrase: Buffer, salt: Buffer, rounds: number): { key: Buffer; iv: Buffer } {
  let digest = Buffer.concat([passphrase, salt]);
  for (let round = 0; round < rounds; round++) digest = createHash('sha512').update(digest).digest();
  return { key: digest.subarray(0, 32), iv: digest.subarray(32, 48) };
}
