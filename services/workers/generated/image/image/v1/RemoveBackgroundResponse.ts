// Original file: protos/image/v1/image.proto


export interface RemoveBackgroundResponse {
  'png'?: (Buffer | Uint8Array | string);
  'width'?: (number);
  'height'?: (number);
  'engine'?: (string);
}

export interface RemoveBackgroundResponse__Output {
  'png': (Buffer);
  'width': (number);
  'height': (number);
  'engine': (string);
}
