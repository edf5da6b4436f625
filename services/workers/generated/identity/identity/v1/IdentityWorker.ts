// Original file: protos/identity/v1/identity.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AadhaarCaptchaAnswer as _identity_v1_AadhaarCaptchaAnswer, AadhaarCaptchaAnswer__Output as _identity_v1_AadhaarCaptchaAnswer__Output } from '../../identity/v1/AadhaarCaptchaAnswer';
import type { AadhaarCaptchaRequest as _identity_v1_AadhaarCaptchaRequest, AadhaarCaptchaRequest__Output as _identity_v1_AadhaarCaptchaRequest__Output } from '../../identity/v1/AadhaarCaptchaRequest';
import type { AadhaarOtpRequest as _identity_v1_AadhaarOtpRequest, AadhaarOtpRequest__Output as _identity_v1_AadhaarOtpRequest__Output } from '../../identity/v1/AadhaarOtpRequest';
import type { AadhaarRecord as _identity_v1_AadhaarRecord, AadhaarRecord__Output as _identity_v1_AadhaarRecord__Output } from '../../identity/v1/AadhaarRecord';
import type { AadhaarStartRequest as _identity_v1_AadhaarStartRequest, AadhaarStartRequest__Output as _identity_v1_AadhaarStartRequest__Output } from '../../identity/v1/AadhaarStartRequest';
import type { Captcha as _identity_v1_Captcha, Captcha__Output as _identity_v1_Captcha__Output } from '../../identity/v1/Captcha';
import type { GstRecord as _identity_v1_GstRecord, GstRecord__Output as _identity_v1_GstRecord__Output } from '../../identity/v1/GstRecord';
import type { GstStartRequest as _identity_v1_GstStartRequest, GstStartRequest__Output as _identity_v1_GstStartRequest__Output } from '../../identity/v1/GstStartRequest';
import type { GstSubmitRequest as _identity_v1_GstSubmitRequest, GstSubmitRequest__Output as _identity_v1_GstSubmitRequest__Output } from '../../identity/v1/GstSubmitRequest';
import type { SessionRequest as _identity_v1_SessionRequest, SessionRequest__Output as _identity_v1_SessionRequest__Output } from '../../identity/v1/SessionRequest';

export interface IdentityWorkerClient extends grpc.Client {
  AadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  AadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  AadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  AadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  aadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  aadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  aadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  aadhaarCaptcha(argument: _identity_v1_AadhaarCaptchaRequest, callback: grpc.requestCallback<_identity_v1_AadhaarCaptchaAnswer__Output>): grpc.ClientUnaryCall;
  
  AadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  AadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  AadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  AadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  aadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  aadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  aadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  aadhaarOtp(argument: _identity_v1_AadhaarOtpRequest, callback: grpc.requestCallback<_identity_v1_AadhaarRecord__Output>): grpc.ClientUnaryCall;
  
  AadhaarStart(argument: _identity_v1_AadhaarStartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  AadhaarStart(argument: _identity_v1_AadhaarStartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  AadhaarStart(argument: _identity_v1_AadhaarStartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  AadhaarStart(argument: _identity_v1_AadhaarStartRequest, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  aadhaarStart(argument: _identity_v1_AadhaarStartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  aadhaarStart(argument: _identity_v1_AadhaarStartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  aadhaarStart(argument: _identity_v1_AadhaarStartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  aadhaarStart(argument: _identity_v1_AadhaarStartRequest, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  
  GstRefresh(argument: _identity_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  GstRefresh(argument: _identity_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  GstRefresh(argument: _identity_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  GstRefresh(argument: _identity_v1_SessionRequest, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstRefresh(argument: _identity_v1_SessionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstRefresh(argument: _identity_v1_SessionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstRefresh(argument: _identity_v1_SessionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstRefresh(argument: _identity_v1_SessionRequest, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  
  GstStart(argument: _identity_v1_GstStartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  GstStart(argument: _identity_v1_GstStartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  GstStart(argument: _identity_v1_GstStartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  GstStart(argument: _identity_v1_GstStartRequest, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstStart(argument: _identity_v1_GstStartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstStart(argument: _identity_v1_GstStartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstStart(argument: _identity_v1_GstStartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  gstStart(argument: _identity_v1_GstStartRequest, callback: grpc.requestCallback<_identity_v1_Captcha__Output>): grpc.ClientUnaryCall;
  
  GstSubmit(argument: _identity_v1_GstSubmitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  GstSubmit(argument: _identity_v1_GstSubmitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  GstSubmit(argument: _identity_v1_GstSubmitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  GstSubmit(argument: _identity_v1_GstSubmitRequest, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  gstSubmit(argument: _identity_v1_GstSubmitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  gstSubmit(argument: _identity_v1_GstSubmitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  gstSubmit(argument: _identity_v1_GstSubmitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  gstSubmit(argument: _identity_v1_GstSubmitRequest, callback: grpc.requestCallback<_identity_v1_GstRecord__Output>): grpc.ClientUnaryCall;
  
}

export interface IdentityWorkerHandlers extends grpc.UntypedServiceImplementation {
  AadhaarCaptcha: grpc.handleUnaryCall<_identity_v1_AadhaarCaptchaRequest__Output, _identity_v1_AadhaarCaptchaAnswer>;
  
  AadhaarOtp: grpc.handleUnaryCall<_identity_v1_AadhaarOtpRequest__Output, _identity_v1_AadhaarRecord>;
  
  AadhaarStart: grpc.handleUnaryCall<_identity_v1_AadhaarStartRequest__Output, _identity_v1_Captcha>;
  
  GstRefresh: grpc.handleUnaryCall<_identity_v1_SessionRequest__Output, _identity_v1_Captcha>;
  
  GstStart: grpc.handleUnaryCall<_identity_v1_GstStartRequest__Output, _identity_v1_Captcha>;
  
  GstSubmit: grpc.handleUnaryCall<_identity_v1_GstSubmitRequest__Output, _identity_v1_GstRecord>;
  
}

export interface IdentityWorkerDefinition extends grpc.ServiceDefinition {
  AadhaarCaptcha: MethodDefinition<_identity_v1_AadhaarCaptchaRequest, _identity_v1_AadhaarCaptchaAnswer, _identity_v1_AadhaarCaptchaRequest__Output, _identity_v1_AadhaarCaptchaAnswer__Output>
  AadhaarOtp: MethodDefinition<_identity_v1_AadhaarOtpRequest, _identity_v1_AadhaarRecord, _identity_v1_AadhaarOtpRequest__Output, _identity_v1_AadhaarRecord__Output>
  AadhaarStart: MethodDefinition<_identity_v1_AadhaarStartRequest, _identity_v1_Captcha, _identity_v1_AadhaarStartRequest__Output, _identity_v1_Captcha__Output>
  GstRefresh: MethodDefinition<_identity_v1_SessionRequest, _identity_v1_Captcha, _identity_v1_SessionRequest__Output, _identity_v1_Captcha__Output>
  GstStart: MethodDefinition<_identity_v1_GstStartRequest, _identity_v1_Captcha, _identity_v1_GstStartRequest__Output, _identity_v1_Captcha__Output>
  GstSubmit: MethodDefinition<_identity_v1_GstSubmitRequest, _identity_v1_GstRecord, _identity_v1_GstSubmitRequest__Output, _identity_v1_GstRecord__Output>
}
