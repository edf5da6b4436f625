// Original file: protos/image/v1/image.proto


export interface RemoveBackgroundRequest {
  'image'?: (Buffer | Uint8Array | string);
}

export interface RemoveBackgroundRequest__Output {
  'image': (Buffer);
}
