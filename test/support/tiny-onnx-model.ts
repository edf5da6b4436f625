/** Protocol buffers as far as an ONNX file needs them: fields of varints, and of bytes. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

function number(field: number, value: number): number[] {
  return [...varint(field << 3), ...varint(value)];
}

function bytes(field: number, content: readonly number[] | string): number[] {
  const data = typeof content === 'string' ? [...Buffer.from(content)] : content;
  return [...varint((field << 3) | 2), ...varint(data.length), ...data];
}

const FLOAT = 1;
const INTS = 7;
const INT = 2;

/** ValueInfoProto of a float tensor. */
function tensor(name: string, dims: readonly number[]): number[] {
  const shape = dims.flatMap((dim) => bytes(1, number(1, dim)));
  return [...bytes(1, name), ...bytes(2, bytes(1, [...number(1, FLOAT), ...bytes(2, shape)]))];
}

/**
 * An ONNX model (IR 8, operators of version 13) that answers the mean of the three channels: `[1, 3, size, size]` to `[1, 1, size, size]`.
 * What it finds in a picture is its light parts, so that a test knows the answer.
 */
export function tinyOnnxModel(size: number): Buffer {
  const axes = [...bytes(1, 'axes'), ...number(8, 1), ...number(20, INTS)];
  const keepDims = [...bytes(1, 'keepdims'), ...number(3, 1), ...number(20, INT)];
  const mean = [...bytes(1, 'picture'), ...bytes(2, 'alpha'), ...bytes(4, 'ReduceMean'), ...bytes(5, axes), ...bytes(5, keepDims)];
  const graph = [
    ...bytes(1, mean),
    ...bytes(2, 'light-parts'),
    ...bytes(11, tensor('picture', [1, 3, size, size])),
    ...bytes(12, tensor('alpha', [1, 1, size, size])),
  ];
  return Buffer.from([...number(1, 8), ...bytes(8, number(2, 13)), ...bytes(7, graph)]);
}
