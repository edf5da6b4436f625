/** Folder below services/workers and below protos. */
export type WorkerKind = 'apk' | 'identity' | 'image' | 'ranking' | 'seo';
