// Original file: protos/identity/v1/identity.proto


export interface GstSubmitRequest {
  'sessionId'?: (string);
  'gstin'?: (string);
  'captcha'?: (string);
}

export interface GstSubmitRequest__Output {
  'sessionId': (string);
  'gstin': (string);
  'captcha': (string);
}
