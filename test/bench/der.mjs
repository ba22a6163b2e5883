/** A 64-byte signature (r ‖ s) in DER. */
export function Secp256k1Der(signature) {
  const integer = (bytes) => {
    let at = 0;
    while (at < bytes.length - 1 && bytes[at] === 0) at++;
    const body =
      bytes[at] & 0x80 ? Buffer.concat([Buffer.from([0]), bytes.subarray(at)]) : bytes.subarray(at);
    return Buffer.concat([Buffer.from([2, body.length]), body]);
  };
  const body = Buffer.concat([integer(signature.subarray(0, 32)), integer(signature.subarray(32, 64))]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}
