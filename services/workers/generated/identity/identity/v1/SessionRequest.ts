// Original file: protos/identity/v1/identity.proto


export interface SessionRequest {
  'sessionId'?: (string);
}

export interface SessionRequest__Output {
  'sessionId': (string);
}
