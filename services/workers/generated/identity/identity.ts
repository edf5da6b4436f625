import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AadhaarCaptchaAnswer as _identity_v1_AadhaarCaptchaAnswer, AadhaarCaptchaAnswer__Output as _identity_v1_AadhaarCaptchaAnswer__Output } from './identity/v1/AadhaarCaptchaAnswer';
import type { AadhaarCaptchaRequest as _identity_v1_AadhaarCaptchaRequest, AadhaarCaptchaRequest__Output as _identity_v1_AadhaarCaptchaRequest__Output } from './identity/v1/AadhaarCaptchaRequest';
import type { AadhaarOtpRequest as _identity_v1_AadhaarOtpRequest, AadhaarOtpRequest__Output as _identity_v1_AadhaarOtpRequest__Output } from './identity/v1/AadhaarOtpRequest';
import type { AadhaarRecord as _identity_v1_AadhaarRecord, AadhaarRecord__Output as _identity_v1_AadhaarRecord__Output } from './identity/v1/AadhaarRecord';
import type { AadhaarStartRequest as _identity_v1_AadhaarStartRequest, AadhaarStartRequest__Output as _identity_v1_AadhaarStartRequest__Output } from './identity/v1/AadhaarStartRequest';
import type { Captcha as _identity_v1_Captcha, Captcha__Output as _identity_v1_Captcha__Output } from './identity/v1/Captcha';
import type { GstRecord as _identity_v1_GstRecord, GstRecord__Output as _identity_v1_GstRecord__Output } from './identity/v1/GstRecord';
import type { GstStartRequest as _identity_v1_GstStartRequest, GstStartRequest__Output as _identity_v1_GstStartRequest__Output } from './identity/v1/GstStartRequest';
import type { GstSubmitRequest as _identity_v1_GstSubmitRequest, GstSubmitRequest__Output as _identity_v1_GstSubmitRequest__Output } from './identity/v1/GstSubmitRequest';
import type { IdentityWorkerClient as _identity_v1_IdentityWorkerClient, IdentityWorkerDefinition as _identity_v1_IdentityWorkerDefinition } from './identity/v1/IdentityWorker';
import type { OtpSent as _identity_v1_OtpSent, OtpSent__Output as _identity_v1_OtpSent__Output } from './identity/v1/OtpSent';
import type { SessionRequest as _identity_v1_SessionRequest, SessionRequest__Output as _identity_v1_SessionRequest__Output } from './identity/v1/SessionRequest';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  identity: {
    v1: {
      AadhaarCaptchaAnswer: MessageTypeDefinition<_identity_v1_AadhaarCaptchaAnswer, _identity_v1_AadhaarCaptchaAnswer__Output>
      AadhaarCaptchaRequest: MessageTypeDefinition<_identity_v1_AadhaarCaptchaRequest, _identity_v1_AadhaarCaptchaRequest__Output>
      AadhaarOtpRequest: MessageTypeDefinition<_identity_v1_AadhaarOtpRequest, _identity_v1_AadhaarOtpRequest__Output>
      AadhaarRecord: MessageTypeDefinition<_identity_v1_AadhaarRecord, _identity_v1_AadhaarRecord__Output>
      AadhaarStartRequest: MessageTypeDefinition<_identity_v1_AadhaarStartRequest, _identity_v1_AadhaarStartRequest__Output>
      Captcha: MessageTypeDefinition<_identity_v1_Captcha, _identity_v1_Captcha__Output>
      GstRecord: MessageTypeDefinition<_identity_v1_GstRecord, _identity_v1_GstRecord__Output>
      GstStartRequest: MessageTypeDefinition<_identity_v1_GstStartRequest, _identity_v1_GstStartRequest__Output>
      GstSubmitRequest: MessageTypeDefinition<_identity_v1_GstSubmitRequest, _identity_v1_GstSubmitRequest__Output>
      IdentityWorker: SubtypeConstructor<typeof grpc.Client, _identity_v1_IdentityWorkerClient> & { service: _identity_v1_IdentityWorkerDefinition }
      OtpSent: MessageTypeDefinition<_identity_v1_OtpSent, _identity_v1_OtpSent__Output>
      SessionRequest: MessageTypeDefinition<_identity_v1_SessionRequest, _identity_v1_SessionRequest__Output>
    }
  }
}

