// Original file: protos/identity/v1/identity.proto


export interface AadhaarOtpRequest {
  'sessionId'?: (string);
  'otp'?: (string);
}

export interface AadhaarOtpRequest__Output {
  'sessionId': (string);
  'otp': (string);
}
