// Original file: protos/identity/v1/identity.proto


export interface GstRecord {
  'payloadJson'?: (string);
}

export interface GstRecord__Output {
  'payloadJson': (string);
}
