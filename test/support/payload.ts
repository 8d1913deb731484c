/** DUMP payloads made by hand. */
import { crc64, writeCrc64 } from "../../src/base/crc64.ts";

export const FOOTER_BYTES = 10;
const CRC_BYTES = 8;

/** Type and value with a footer: version and the right check sum. */
export function sealPayload(body: Uint8Array, version = 10): Buffer {
  const payload = Buffer.concat([body, Buffer.alloc(FOOTER_BYTES)]);
  payload.writeUInt16LE(version, body.length);
  resealPayload(payload);
  return payload;
}

/** Makes the check sum right for what is before it now. */
export function resealPayload(payload: Uint8Array): void {
  const end = payload.length - CRC_BYTES;
  const sum = { hi: 0, lo: 0 };
  crc64(payload, 0, end, sum);
  writeCrc64(sum, payload, end);
}
