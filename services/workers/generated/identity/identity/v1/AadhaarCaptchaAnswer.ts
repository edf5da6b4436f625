// Original file: protos/identity/v1/identity.proto

import type { Captcha as _identity_v1_Captcha, Captcha__Output as _identity_v1_Captcha__Output } from '../../identity/v1/Captcha';
import type { OtpSent as _identity_v1_OtpSent, OtpSent__Output as _identity_v1_OtpSent__Output } from '../../identity/v1/OtpSent';

export interface AadhaarCaptchaAnswer {
  'captcha'?: (_identity_v1_Captcha | null);
  'otpSent'?: (_identity_v1_OtpSent | null);
  'next'?: "captcha"|"otpSent";
}

export interface AadhaarCaptchaAnswer__Output {
  'captcha'?: (_identity_v1_Captcha__Output | null);
  'otpSent'?: (_identity_v1_OtpSent__Output | null);
  'next'?: "captcha"|"otpSent";
}
