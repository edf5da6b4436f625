// Original file: protos/identity/v1/identity.proto


export interface AadhaarStartRequest {
  'aadhaar'?: (string);
}

export interface AadhaarStartRequest__Output {
  'aadhaar': (string);
}
