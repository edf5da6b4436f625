const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** @param hostname as a URL has it, without a port */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK_NAMES.has(hostname);
}
