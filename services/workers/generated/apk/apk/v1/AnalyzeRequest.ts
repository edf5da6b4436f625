// Original file: protos/apk/v1/apk.proto

import type { UploadHeader as _apk_v1_UploadHeader, UploadHeader__Output as _apk_v1_UploadHeader__Output } from '../../apk/v1/UploadHeader';

export interface AnalyzeRequest {
  'header'?: (_apk_v1_UploadHeader | null);
  'chunk'?: (Buffer | Uint8Array | string);
  'part'?: "header"|"chunk";
}

export interface AnalyzeRequest__Output {
  'header'?: (_apk_v1_UploadHeader__Output | null);
  'chunk'?: (Buffer);
  'part'?: "header"|"chunk";
}
