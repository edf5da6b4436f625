function numbers(size: 1 | 2 | 4, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(size * values.length);
  values.forEach((value, index) => bytes.writeUIntLE(value, index * size, size));
  return bytes;
}

export const u8 = (...values: number[]): Buffer => numbers(1, values);
export const u16 = (...values: number[]): Buffer => numbers(2, values);
export const u32 = (...values: number[]): Buffer => numbers(4, values);

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
