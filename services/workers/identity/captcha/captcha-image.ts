export interface CaptchaImage {
  readonly bytes: Buffer;
  readonly mediaType: 'image/png' | 'image/jpeg';
}
