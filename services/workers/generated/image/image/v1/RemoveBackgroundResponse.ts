// Original file: protos/image/v1/image.proto


export interface RemoveBackgroundResponse {
  'image'?: (Buffer | Uint8Array | string);
  'width'?: (number);
  'height'?: (number);
  'engine'?: (string);
  'mime'?: (string);
  'confidence'?: (number | string);
  '_confidence'?: "confidence";
}

export interface RemoveBackgroundResponse__Output {
  'image': (Buffer);
  'width': (number);
  'height': (number);
  'engine': (string);
  'mime': (string);
  'confidence'?: (number);
  '_confidence'?: "confidence";
}
