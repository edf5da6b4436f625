import { type ProblemCode } from '../../plugins/core/problems';
import { type Route } from '../kit/service/define-service';
import { ACCESS_DENIALS, type Failure, failureOf, GATEWAY_FAILURES, ownFailureOf } from './error-table';

/** Whether the route reads a body: GET bodies are ignored. */
function readsBody({ method, body }: Route): boolean {
  return method !== 'GET' && body?.kind !== 'ignored';
}

/** Every status and code with which a route can refuse or fail, as callers see them. */
export function refusalsOf(route: Route): readonly Failure[] {
  const codes: ProblemCode[] = ['invalid_request', ...ACCESS_DENIALS, 'gateway_proof_missing', 'processing_failed', 'service_not_ready'];
  if (route.method !== 'ANY') codes.push('method_not_allowed');
  if (route.validationStatus === 422) codes.push('validation_failed');
  if (readsBody(route)) codes.push('payload_too_large', 'media_type_unsupported');
  if (!isIndex(route)) codes.push('upstream_failed', 'upstream_timeout', 'upstream_not_configured');
  if (!route.isLight) codes.push('concurrency_exceeded');
  const all = [...codes.map(failureOf), ...(route.fails ?? []).map(ownFailureOf), ...GATEWAY_FAILURES];
  return [...new Map(all.map((each) => [`${each.status} ${each.code}`, each])).values()];
}

/** Light routes that call no upstream. */
function isIndex({ isLight, path }: Route): boolean {
  return isLight === true && !path.endsWith('/health');
}
