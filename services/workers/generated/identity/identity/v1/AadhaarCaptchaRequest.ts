// Original file: protos/identity/v1/identity.proto


export interface AadhaarCaptchaRequest {
  'sessionId'?: (string);
  'captcha'?: (string);
}

export interface AadhaarCaptchaRequest__Output {
  'sessionId': (string);
  'captcha': (string);
}
