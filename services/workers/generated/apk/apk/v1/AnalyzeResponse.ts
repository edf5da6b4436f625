// Original file: protos/apk/v1/apk.proto


export interface AnalyzeResponse {
  'reportJson'?: (string);
}

export interface AnalyzeResponse__Output {
  'reportJson': (string);
}
