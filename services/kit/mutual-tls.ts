/** PEM texts. Both sides show a certificate of the same authority. */
export interface MutualTls {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}
