// Original file: protos/identity/v1/identity.proto


export interface AadhaarRecord {
  'name'?: (string);
  'dateOfBirth'?: (string);
  'gender'?: (string);
  'careOf'?: (string);
  'address'?: ({[key: string]: string});
  'photoBase64'?: (string);
  'maskedAadhaar'?: (string);
  'referenceId'?: (string);
  '_dateOfBirth'?: "dateOfBirth";
  '_gender'?: "gender";
  '_careOf'?: "careOf";
  '_photoBase64'?: "photoBase64";
  '_referenceId'?: "referenceId";
}

export interface AadhaarRecord__Output {
  'name': (string);
  'dateOfBirth'?: (string);
  'gender'?: (string);
  'careOf'?: (string);
  'address': ({[key: string]: string});
  'photoBase64'?: (string);
  'maskedAadhaar': (string);
  'referenceId'?: (string);
  '_dateOfBirth'?: "dateOfBirth";
  '_gender'?: "gender";
  '_careOf'?: "careOf";
  '_photoBase64'?: "photoBase64";
  '_referenceId'?: "referenceId";
}
