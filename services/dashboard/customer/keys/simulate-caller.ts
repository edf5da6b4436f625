import { parseIpAddress } from '../../../../plugins/core/access/ip-address';
import { checkWhitelist, compileWhitelist, originHostOf } from '../../../../plugins/core/access/whitelist';
import { parseRules } from '../../../selling/keys/whitelist-rules';
import { invalidInput } from '../../../kit/errors';
import { type Simulation } from '../../contract/keys';

/** The properties of a simulated caller. */
export interface SimulatedCaller {
  readonly address?: string | undefined;
  /** Value of the Origin header. */
  readonly origin?: string | undefined;
}

/** Reads an Origin as a person writes it. Without a scheme it means https. */
function hostOf(origin: string | undefined): string | undefined {
  if (!origin) return undefined;
  const host = originHostOf(/^[a-z][a-z0-9+.-]*:/i.test(origin) || origin === 'null' ? origin : `https://${origin}`, undefined);
  if (host === undefined && origin !== 'null') {
    throw invalidInput([{ field: 'origin', message: 'must be an origin such as https://app.example.com' }]);
  }
  return host;
}

function describe(caller: { address: string; host: string | undefined }): string {
  const parts = [caller.address, caller.host].filter((part) => part);
  return parts.length === 0 ? 'a caller with neither address nor origin' : parts.join(' from ');
}

/** The key's facts for the check. */
export interface SimulatedKey {
  /** Rules as a customer writes them. */
  readonly rules: readonly string[];
  readonly state: 'active' | 'inactive' | 'expired' | 'revoked';
}

/** Checks that precede the rules, for every caller. */
const REFUSED_STATES = {
  inactive: 'The key is inactive: every caller is refused until it is activated.',
  expired: 'The key has expired: every caller is refused.',
  revoked: 'The key is revoked: every caller is refused.',
} as const;

/**
 * Decides whether this caller would be allowed, with the code that decides on requests.
 * @throws OperationRefused `rule_malformed`, `rule_limit_reached`; ServiceError 400 for a malformed address or origin
 */
export function simulateCaller({ rules: written, state }: SimulatedKey, caller: SimulatedCaller): Simulation {
  const rules = parseRules(written).map(({ text }) => text);
  const address = caller.address ?? '';
  if (address !== '' && !parseIpAddress(address)) throw invalidInput([{ field: 'address', message: 'must be an IP address' }]);
  const host = hostOf(caller.origin);
  if (state !== 'active') return { admitted: false, rule: null, reason: REFUSED_STATES[state] };
  const verdict = checkWhitelist(compileWhitelist(rules), { address, originHost: host });
  const who = describe({ address, host });
  if (!verdict.admitted) return { admitted: false, rule: null, reason: `None of the ${rules.length} rules matches ${who}.` };
  if (verdict.rule === undefined) return { admitted: true, rule: null, reason: 'The key has no rules, so any caller is allowed.' };
  return { admitted: true, rule: verdict.rule, reason: `The rule ${verdict.rule} matches ${who}.` };
}
