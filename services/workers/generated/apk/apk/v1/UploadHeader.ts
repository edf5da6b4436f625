// Original file: protos/apk/v1/apk.proto


export interface UploadHeader {
  'fileName'?: (string);
}

export interface UploadHeader__Output {
  'fileName': (string);
}
