/** Slots of a Redis Cluster. */
const SLOTS = 16_384;

/** CRC-16/XMODEM of each byte value, as the cluster specification has it. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/**
 * The slot of a key with this hash tag: of `name:{tag}` whatever its name.
 * @param tag ASCII, without braces
 */
export function slotOfTag(tag: string): number {
  let crc = 0;
  for (let index = 0; index < tag.length; index++) {
    crc = ((crc << 8) ^ (TABLE[((crc >> 8) ^ tag.charCodeAt(index)) & 0xff] ?? 0)) & 0xffff;
  }
  return crc % SLOTS;
}
