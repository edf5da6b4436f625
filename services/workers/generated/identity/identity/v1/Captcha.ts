// Original file: protos/identity/v1/identity.proto


export interface Captcha {
  'sessionId'?: (string);
  'image'?: (Buffer | Uint8Array | string);
  'mediaType'?: (string);
}

export interface Captcha__Output {
  'sessionId': (string);
  'image': (Buffer);
  'mediaType': (string);
}
