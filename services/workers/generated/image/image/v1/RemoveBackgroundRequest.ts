// Original file: protos/image/v1/image.proto


export interface RemoveBackgroundRequest {
  'image'?: (Buffer | Uint8Array | string);
  'format'?: (string);
  'maxSide'?: (number);
  'crop'?: (boolean);
  'background'?: (string);
}

export interface RemoveBackgroundRequest__Output {
  'image': (Buffer);
  'format': (string);
  'maxSide': (number);
  'crop': (boolean);
  'background': (string);
}
